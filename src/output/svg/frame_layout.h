// SPDX-License-Identifier: Apache-2.0
/* Where each frame of a flame graph goes. */
#pragma once

#include <stdbool.h>

#include "output/frame_tree.h"

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
