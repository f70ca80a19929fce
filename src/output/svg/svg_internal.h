// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share: the parts of a flame graph. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "output/frame_tree.h"
#include "profile/profile.h"

/* ---- frame_layout.c ---- */

/* Where each frame of a flame graph goes. */

/* Frames deeper than this are not drawn; a mark says so. */
#define SVG_MAX_DEPTH 300
/* Frames narrower than this, in px, are not drawn: nobody can see them. */
#define SVG_MIN_WIDTH 0.1

struct svg_box {
    double x, width; /* px */
    uint32_t node;
    uint16_t level; /* 0 at the bottom */
    bool cut;       /* stands for this frame and all above it */
};

struct svg_layout {
    struct svg_box *boxes;
    size_t count, capacity;
    uint32_t levels;
};

/* Make the boxes of a tree. Node 0 starts at `x` and is `width` wide, in px. */
void svg_layout_make(struct svg_layout *layout, const struct frame_tree *tree, double x,
                     double width);
void svg_layout_free(struct svg_layout *layout);

/* ---- style.c ---- */

/* The look of frames in the SVG. */

struct svg_colour {
    char text[8]; /* "#rrggbb" */
};

enum svg_change { SVG_NO_CHANGE, SVG_GROWTH, SVG_RELEASE, SVG_CHANGES };

/* The kinds of frames that have a colour each, as in the page (web/analysis/kinds.js). */
enum svg_kind {
    SVG_ROOT, /* a root frame: who ran */
    SVG_ERLANG,
    SVG_BIF,
    SVG_RUNTIME,
    SVG_NATIVE,
    SVG_KERNEL,
    SVG_MARK,
    SVG_ELIXIR,
    SVG_COLLECTION,
    SVG_KINDS,
};

/* Return the kind of a frame with this text. `is_root`: only root frames are below it. */
enum svg_kind svg_kind_of(enum frame_kind kind, const char *text, bool is_root);
const char *svg_kind_name(enum svg_kind kind);

/* Return the colour of a frame: that of the change, or of the kind without one. It varies a little
 * by module. `text` is the frame's text. */
struct svg_colour svg_frame_colour(enum svg_kind kind, enum svg_change change, const char *text);
/* The colour in the middle of the range, for the legend. */
struct svg_colour svg_kind_colour(enum svg_kind kind);
struct svg_colour svg_change_colour(enum svg_change change);

/* Return the text of a function without its module: "map/2" of "lists:map/2", "add/2" of
 * "Shop.Cart.add/2"; other texts whole. */
const char *svg_without_module(const char *text);

/* Write text as XML content or attribute value. */
void svg_style_put_text(FILE *file, const char *text, size_t size);
