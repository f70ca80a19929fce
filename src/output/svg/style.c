// SPDX-License-Identifier: Apache-2.0
#include "output/svg/svg_internal.h"

#include <math.h>
#include <string.h>

/* A colour of OKLCH: lightness, chroma, and hue in degrees. */
struct oklch {
    double lightness, chroma, hue;
};

/* The colours of the page's light theme (web/view/theme.js). */
static const struct {
    const char *name;
    struct oklch colour;
} kinds[] = {
    [SVG_ROOT] = {"process", {0.93, 0.014, 255}},
    [SVG_ERLANG] = {"Erlang", {0.795, 0.115, 61}},
    [SVG_BIF] = {"BIF, NIF", {0.885, 0.13, 98}},
    [SVG_RUNTIME] = {"JIT runtime", {0.82, 0.04, 210}},
    [SVG_NATIVE] = {"native", {0.76, 0.115, 249}},
    [SVG_KERNEL] = {"kernel", {0.62, 0.08, 174}},
    [SVG_MARK] = {"mark", {0.96, 0.006, 260}},
    [SVG_ELIXIR] = {"Elixir", {0.695, 0.096, 322}},
    [SVG_COLLECTION] = {"garbage collection", {0.645, 0.17, 29}},
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == SVG_KINDS, "one each");

static const struct oklch changes[] = {
    [SVG_GROWTH] = {0.7, 0.16, 38},
    [SVG_RELEASE] = {0.68, 0.14, 250},
};
_Static_assert(sizeof(changes) / sizeof(changes[0]) == SVG_CHANGES, "one each");

/* Modules differ in shade: in lightness by so much, and in hue by so many degrees. Colours with
 * less chroma have no hue to see. */
enum { SHADES = 5 };
static const double LIGHTNESS_RANGE = 0.045, HUE_RANGE = 10, CHROMA_SEEN = 0.03;

/* ---- kinds ---- */

/* Functions of erl_gc.c (OTP 24 to 29), also with a compiler's suffix: "do_minor.isra.0". */
static bool is_collector(const char *text)
{
    static const char *const begins[] = {
        "garbage_collect",
        "erts_garbage_collect",
        "minor_collection",
        "major_collection",
        "do_minor",
        "full_sweep_heaps",
        "sweep_new_heap",
        "sweep_heaps",
        "sweep_rootset",
        "sweep_off_heap",
        "sweep_literals_to_old_heap",
        "erts_gc_after_bif_call",
        "adjust_after_fullsweep",
        "erts_sweep_",
    };

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (!strncmp(text, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* A function of Elixir has a name as in Elixir ("Enum.map/2"). That of an Erlang function begins
 * with a lower-case letter or a quote. */
static bool is_elixir(const char *text)
{
    return text[0] >= 'A' && text[0] <= 'Z';
}

enum svg_kind svg_kind_of(enum frame_kind kind, const char *text, bool is_root)
{
    static const enum svg_kind same[] = {
        [FRAME_ERLANG] = SVG_ERLANG, [FRAME_BIF] = SVG_BIF,       [FRAME_RUNTIME] = SVG_RUNTIME,
        [FRAME_NATIVE] = SVG_NATIVE, [FRAME_KERNEL] = SVG_KERNEL, [FRAME_MARK] = SVG_MARK,
    };

    if (is_root && kind == FRAME_MARK)
        return SVG_ROOT;
    if (kind == FRAME_ERLANG && is_elixir(text))
        return SVG_ELIXIR;
    if (kind == FRAME_NATIVE && is_collector(text))
        return SVG_COLLECTION;
    return same[kind];
}

const char *svg_kind_name(enum svg_kind kind)
{
    return kinds[kind].name;
}

/* ---- colours ---- */

/* A linear part of sRGB as a byte (CSS Color 4, section 10.2). */
static unsigned byte_of(double linear)
{
    double part = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;

    return (unsigned)lround(255 * fmin(fmax(part, 0), 1));
}

/* OKLCH to sRGB (Ottosson, "A perceptual color space for image processing"; CSS Color 4). */
static struct svg_colour srgb_of(const struct oklch *colour)
{
    double radians = colour->hue * acos(-1) / 180;
    double a = colour->chroma * cos(radians), b = colour->chroma * sin(radians);
    double l = pow(colour->lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(colour->lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(colour->lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    struct svg_colour result;

    snprintf(result.text, sizeof(result.text), "#%02x%02x%02x",
             byte_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) & 255,
             byte_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) & 255,
             byte_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s) & 255);
    return result;
}

/* The size of the module's name in the text of a frame: "lists" of "lists:map/2", "Shop.Cart" of
 * "Shop.Cart.add/2"; else the whole text. */
static size_t module_size(const char *text)
{
    const char *colon = strchr(text, ':'), *dot = strrchr(text, '.');
    const char *end = colon && colon > text ? colon : dot && dot > text ? dot : NULL;

    return end ? (size_t)(end - text) : strlen(text);
}

const char *svg_without_module(const char *text)
{
    const char *rest = text + module_size(text);

    if (*rest == ':')
        rest += rest[1] == ':' ? 2 : 1;
    else if (*rest == '.' && is_elixir(text))
        rest++;
    return *rest && (rest[-1] == ':' || is_elixir(text)) ? rest : text;
}

/* A number from -0.5 to 0.5 by a hash of the module (FNV-1a, as in the page: hash.h differs from
 * run to run). */
static double shade_of(const char *text)
{
    size_t size = module_size(text);
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    hash ^= hash >> 15;
    return (double)(hash % SHADES) / (SHADES - 1) - 0.5;
}

struct svg_colour svg_frame_colour(enum svg_kind kind, enum svg_change change, const char *text)
{
    struct oklch colour = change ? changes[change] : kinds[kind].colour;
    double shade = shade_of(text);

    colour.lightness += shade * LIGHTNESS_RANGE;
    if (colour.chroma > CHROMA_SEEN)
        colour.hue += shade * HUE_RANGE;
    return srgb_of(&colour);
}

struct svg_colour svg_change_colour(enum svg_change change)
{
    return srgb_of(&changes[change]);
}

struct svg_colour svg_kind_colour(enum svg_kind kind)
{
    return srgb_of(&kinds[kind].colour);
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
