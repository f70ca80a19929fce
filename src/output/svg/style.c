// SPDX-License-Identifier: Apache-2.0
#include "output/svg/svg_internal.h"

#include <math.h>
#include <string.h>

struct style {
    const char *name;
    double hue, hue_range, saturation, lightness, lightness_range;
};

static const struct style styles[] = {
    [FRAME_ERLANG] = {"Erlang", 30, 24, 0.92, 0.70, 0.08},
    [FRAME_BIF] = {"BIF, NIF", 172, 14, 0.48, 0.67, 0.06},
    [FRAME_RUNTIME] = {"JIT runtime", 272, 18, 0.55, 0.81, 0.05},
    [FRAME_NATIVE] = {"native", 212, 18, 0.72, 0.77, 0.06},
    [FRAME_KERNEL] = {"kernel", 104, 22, 0.38, 0.72, 0.06},
    [FRAME_MARK] = {"who ran", 220, 0, 0.14, 0.86, 0},
};

static const struct style changes[] = {
    [SVG_GROWTH] = {"growth", 8, 20, 0.86, 0.72, 0.08},
    [SVG_RELEASE] = {"release", 206, 20, 0.66, 0.74, 0.08},
};
_Static_assert(sizeof(changes) / sizeof(changes[0]) == SVG_CHANGES, "one each");

static unsigned channel(double hue, double saturation, double lightness, double offset)
{
    double k = fmod(offset + hue / 30, 12);
    double amplitude = saturation * fmin(lightness, 1 - lightness);

    return (unsigned)lround(255 * (lightness - amplitude * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))));
}

/* `hue` and `shade` are -1..1 within the range of the style. */
static struct svg_colour colour_of(const struct style *style, double hue, double shade)
{
    double h = fmod(style->hue + hue * style->hue_range / 2 + 360, 360);
    double l = style->lightness + shade * style->lightness_range / 2;
    double s = style->saturation;
    struct svg_colour colour;

    /* HSL to RGB in the form of CSS Color 4, section 7.1: offsets 0, 8, 4. */
    snprintf(colour.text, sizeof(colour.text), "#%02x%02x%02x", channel(h, s, l, 0) & 255,
             channel(h, s, l, 8) & 255, channel(h, s, l, 4) & 255);
    return colour;
}

/* FNV-1a, the same on every run and machine (hash.h is not); mapped to -1..1. */
static double spread(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    hash ^= hash >> 15;
    return (double)(hash % 2001) / 1000 - 1;
}

struct svg_colour svg_frame_colour(enum frame_kind kind, enum svg_change change, const char *text)
{
    size_t module = strcspn(text, ":"), size = strlen(text);

    return colour_of(change ? &changes[change] : &styles[kind], spread(text, module),
                     spread(text, size));
}

struct svg_colour svg_change_colour(enum svg_change change)
{
    return colour_of(&changes[change], 0, 0);
}

struct svg_colour svg_kind_colour(enum frame_kind kind)
{
    return colour_of(&styles[kind], 0, 0);
}

const char *svg_kind_name(enum frame_kind kind)
{
    return styles[kind].name;
}

void svg_style_put_text(FILE *file, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        switch (text[i]) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            putc(text[i], file);
        }
    }
}
