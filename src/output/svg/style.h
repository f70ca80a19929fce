// SPDX-License-Identifier: Apache-2.0
/* The look of frames in the SVG. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

struct svg_colour {
    char text[8]; /* "#rrggbb" */
};

enum svg_change { SVG_NO_CHANGE, SVG_GROWTH, SVG_RELEASE, SVG_CHANGES };

/* Return the colour of a frame. Its hue depends on the change, or on the kind without one, and
 * varies a little by module; its lightness varies by function. `text` is the frame's text. */
struct svg_colour svg_frame_colour(enum frame_kind kind, enum svg_change change, const char *text);
/* The colour in the middle of the range, for the legend. */
struct svg_colour svg_kind_colour(enum frame_kind kind);
struct svg_colour svg_change_colour(enum svg_change change);
const char *svg_kind_name(enum frame_kind kind);

/* Write text as XML content or attribute value. */
void svg_style_put_text(FILE *file, const char *text, size_t size);
