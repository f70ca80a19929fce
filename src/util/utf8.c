// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.h"

#include <string.h>

#include "util/alloc.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

size_t utf8_decode(const char *text, size_t size, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *at = (const uint8_t *)text;
    uint32_t point;
    size_t length;

    if (!size)
        return 0;
    if (at[0] < 0x80) {
        *ret_point = at[0];
        return 1;
    }
    length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc0 || at[0] > 0xf7 || length > size)
        return 0;
    point = at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3f);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    *ret_point = point;
    return length;
}

/* Characters that are more than text: controls (C0, DEL, C1), marks and controls of the direction
 * of text, which let it look like other text (Unicode, UAX #9), the line and paragraph separators,
 * which end a line in JavaScript, and noncharacters, which XML forbids. */
static const uint32_t unsafe[][2] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfdd0, 0xfdef},
};

/* True if a character must be replaced; `length` is 0 for a byte that is not UTF-8. */
static bool utf8_is_bad(size_t length, uint32_t point)
{
    if (!length || (point & 0xfffe) == 0xfffe)
        return true;
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]) && point >= unsafe[i][0]; i++)
        if (point <= unsafe[i][1])
            return true;
    return false;
}

/* Most texts are nothing else. */
static bool is_printable_ascii(const char *text, size_t size)
{
    uint8_t bad = 0;

    for (size_t i = 0; i < size; i++)
        bad |= (uint8_t)((uint8_t)(text[i] - ' ') > '~' - ' ');
    return !bad;
}

bool utf8_is_clean(const char *text, size_t size)
{
    uint32_t point = 0;

    if (is_printable_ascii(text, size))
        return true;
    for (size_t i = 0, length; i < size; i += length) {
        length = utf8_decode(text + i, size - i, &point);
        if (utf8_is_bad(length, point))
            return false;
    }
    return true;
}

size_t utf8_clean(char *to, const char *text, size_t size)
{
    uint32_t point = 0;
    char *at = to;

    for (size_t i = 0, length; i < size; i += length ? length : 1) {
        length = utf8_decode(text + i, size - i, &point);
        if (utf8_is_bad(length, point)) {
            memcpy(at, REPLACEMENT, strlen(REPLACEMENT));
            at += strlen(REPLACEMENT);
        } else {
            memcpy(at, text + i, length);
            at += length;
        }
    }
    return (size_t)(at - to);
}

char *utf8_clean_string(const char *text)
{
    size_t size = strlen(text);
    char *clean = xmalloc(3 * size + 1);

    clean[utf8_clean(clean, text, size)] = '\0';
    return clean;
}

/* The blocks of Unicode's EastAsianWidth.txt (15.0) whose characters are all wide. That is exact
 * enough to keep text inside its box. */
static size_t point_cells(uint32_t point)
{
    static const uint32_t wide[][2] = {
        {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
        {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (point >= wide[i][0] && point <= wide[i][1])
            return 2;
    return 1;
}

size_t utf8_fit(const char *text, size_t cells)
{
    size_t size = strlen(text), at = 0, length;
    uint32_t point = 0;

    while (at < size) {
        length = utf8_decode(text + at, size - at, &point);
        if (point_cells(length ? point : 0) > cells)
            break;
        cells -= point_cells(length ? point : 0);
        at += length ? length : 1;
    }
    return at;
}

size_t utf8_cells(const char *text)
{
    size_t size = strlen(text), cells = 0, length;
    uint32_t point = 0;

    for (size_t at = 0; at < size; at += length ? length : 1) {
        length = utf8_decode(text + at, size - at, &point);
        cells += point_cells(length ? point : 0);
    }
    return cells;
}

void utf8_copy(char *to, size_t size, const char *text)
{
    size_t length = strlen(text), point = 0, next;
    uint32_t ignored;

    while (point < length && (next = utf8_decode(text + point, length - point, &ignored)) &&
           point + next < size)
        point += next;
    memcpy(to, text, point);
    to[point] = '\0';
}
