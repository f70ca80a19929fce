// SPDX-License-Identifier: Apache-2.0
#include "beam/term_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/erlang_escape.h"
#include "util/utf8.h"

enum { CHARACTER_BYTES = 4 /* that UTF-8 has at most */ };

bool term_text_is_printable(uint32_t character)
{
    return (character >= 0x20 && character < 0x7f) || (character >= 0xa0 && character < 0xd800) ||
           (character >= 0xe000 && character < 0xfffe) ||
           (character >= 0x10000 && character <= 0x10ffff) ||
           (character >= '\b' && character <= '\r') || character == '\033';
}

/* Append `<<"text">>` if all of it is printable. Otherwise append nothing and return false. */
static bool put_printable(struct buffer *out, const char *bytes, size_t size, bool is_cut)
{
    struct buffer text = {0};
    bool printable = true, ascii = true;
    size_t length = 0;

    for (size_t at = 0; at < size && printable; at += length) {
        uint32_t point;

        length = utf8_decode(bytes + at, size - at, &point);
        if (!length && is_cut && at && size - at < CHARACTER_BYTES)
            break; /* the cut is in a character */
        printable = length > 0 && term_text_is_printable(point);
        ascii &= point < 0x80;
        if (printable)
            erlang_escape_character(&text, point, '"');
    }
    if (printable && size > 0) {
        buffer_text(out, "<<\"");
        buffer_put(out, text.data, text.size);
        buffer_text(out, ascii ? "\"" : "\"/utf8");
        buffer_text(out, is_cut ? "...>>" : ">>");
    }
    buffer_free(&text);
    return printable && size > 0;
}

void term_text_binary(struct buffer *out, const char *bytes, size_t size, bool is_cut, size_t limit)
{
    if (put_printable(out, bytes, size, is_cut))
        return;
    buffer_text(out, "<<");
    for (size_t i = 0; i < size; i++) {
        if (out->size >= limit) {
            is_cut = true;
            break;
        }
        buffer_format(out, i ? ",%u" : "%u", (unsigned char)bytes[i]);
    }
    buffer_text(out, is_cut ? "...>>" : ">>");
}

void term_text_big(struct buffer *out, const uint64_t digits[TERM_TEXT_BIG_WORDS], bool negative)
{
    unsigned __int128 value = (unsigned __int128)digits[1] << 64 | digits[0];
    char text[48], *at = text + sizeof(text) - 1;

    *at = '\0';
    do {
        *--at = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    if (negative)
        *--at = '-';
    buffer_text(out, at);
}

/* io_lib_format:insert_decimal/2: append `digits` with the decimal point after `place` of them, or
 * with an exponent if that is shorter. */
static void put_decimal(struct buffer *out, const char *digits, int place)
{
    int length = (int)strlen(digits);
    char exponent[16];
    int cost = snprintf(exponent, sizeof(exponent), "%d", place - 1) + (length == 1 ? 3 : 2);

    if (place > 0 && place < length)
        buffer_format(out, "%.*s.%s", place, digits, digits + place);
    else if (place <= 0 && 2 - place <= cost)
        buffer_format(out, "0.%.*s%s", -place, "00000000", digits);
    else if (place > 0 && place - length + 2 <= cost)
        buffer_format(out, "%s%.*s.0", digits, place - length, "00000000");
    else
        buffer_format(out, "%c.%se%s", digits[0], length == 1 ? "0" : digits + 1, exponent);
}

bool term_text_float(struct buffer *out, double value)
{
    char text[40], digits[24], *exponent, *end;
    int precision = 0, sign;

    if (!isfinite(value))
        return false;
    do {
        snprintf(text, sizeof(text), "%.*e", precision, value);
    } while (precision++ < 16 && strtod(text, NULL) != value);
    exponent = strchr(text, 'e');
    sign = text[0] == '-';
    digits[0] = text[sign];
    end = digits + 1;
    for (const char *at = text + sign + 2; at < exponent; at++)
        *end++ = *at;
    *end = '\0';
    buffer_text(out, sign ? "-" : "");
    put_decimal(out, digits, atoi(exponent + 1) + 1);
    return true;
}
