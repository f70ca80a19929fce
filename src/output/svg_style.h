// SPDX-License-Identifier: Apache-2.0
/* What frames look like in the SVG. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

struct svg_colour {
    char text[8]; /* "#rrggbb" */
};

enum svg_change { SVG_NO_CHANGE, SVG_GROWTH, SVG_RELEASE, SVG_CHANGES };

/* The hue tells the kind, or the change; the shade tells functions of one module from those of
 * others. */
struct svg_colour svg_frame_colour(enum frame_kind kind, enum svg_change change, const char *text);
/* The middle of the shades, for the legend. */
struct svg_colour svg_kind_colour(enum frame_kind kind);
struct svg_colour svg_change_colour(enum svg_change change);
const char *svg_kind_name(enum frame_kind kind);

/* Write text as XML content or attribute value. */
void svg_put_text(FILE *file, const char *text, size_t size);
