// SPDX-License-Identifier: Apache-2.0
#include "beam/erlang_escape.h"

#include <stdbool.h>
#include <string.h>

#include "util/utf8.h"

static void put_utf8(struct buffer *out, uint32_t point)
{
    if (point < 0x80) {
        buffer_byte(out, (char)point);
    } else if (point < 0x800) {
        buffer_byte(out, (char)(0xc0 | point >> 6));
        buffer_byte(out, (char)(0x80 | (point & 0x3f)));
    } else if (point < 0x10000) {
        buffer_byte(out, (char)(0xe0 | point >> 12));
        buffer_byte(out, (char)(0x80 | (point >> 6 & 0x3f)));
        buffer_byte(out, (char)(0x80 | (point & 0x3f)));
    } else {
        buffer_byte(out, (char)(0xf0 | point >> 18));
        buffer_byte(out, (char)(0x80 | (point >> 12 & 0x3f)));
        buffer_byte(out, (char)(0x80 | (point >> 6 & 0x3f)));
        buffer_byte(out, (char)(0x80 | (point & 0x3f)));
    }
}

/* io_lib:string_char/4 */
void erlang_escape_character(struct buffer *out, uint32_t character, char quote)
{
    static const char escaped[] = "\n\t\r\v\b\f\033\177", letters[] = "ntrvbfed";
    const char *found = character && character < 0x80 ? strchr(escaped, (int)character) : NULL;

    if (found)
        buffer_format(out, "\\%c", letters[found - escaped]);
    else if (character == '\\' || character == (unsigned char)quote)
        buffer_format(out, "\\%c", (char)character);
    else if (character < 0x20 || (character >= 0x80 && character < 0xa0))
        buffer_format(out, "\\%03o", character);
    else
        put_utf8(out, character);
}

/* A lower-case letter of ISO 8859-1. Only such letters can start an atom without quotes. */
static bool is_lower(uint32_t point)
{
    return (point >= 'a' && point <= 'z') || (point >= 0xdf && point <= 0xff && point != 0xf7);
}

static bool is_name_character(uint32_t point)
{
    return is_lower(point) || (point >= 'A' && point <= 'Z') || (point >= '0' && point <= '9') ||
           point == '_' || point == '@' || (point >= 0xc0 && point <= 0xde && point != 0xd7);
}

/* erl_scan:reserved_word/1 */
static bool is_reserved(const char *text)
{
    static const char *const words[] = {
        "after", "and",  "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr",
        "bxor",  "case", "catch",   "cond",   "div",     "end",  "fun", "if",   "let",
        "not",   "of",   "or",      "orelse", "receive", "rem",  "try", "when", "xor",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

static bool is_plain(const char *text)
{
    size_t left = strlen(text);
    bool first = true;

    while (left > 0) {
        uint32_t point;
        size_t length = utf8_decode(text, left, &point);

        if (length == 0 || !(first ? is_lower(point) : is_name_character(point)))
            return false;
        text += length;
        left -= length;
        first = false;
    }
    return !first;
}

void erlang_escape_atom(struct buffer *out, const char *text)
{
    size_t left = strlen(text);

    if (is_plain(text) && !is_reserved(text)) {
        buffer_text(out, text);
        return;
    }
    buffer_byte(out, '\'');
    while (left > 0) {
        uint32_t point;
        size_t length = utf8_decode(text, left, &point);

        if (length == 0) { /* never in a real atom table */
            point = 0xfffd;
            length = 1;
        }
        erlang_escape_character(out, point, '\'');
        text += length;
        left -= length;
    }
    buffer_byte(out, '\'');
}

void erlang_escape_copy(const struct buffer *from, char *to, size_t size)
{
    size_t length = from->size;

    if (size == 0)
        return;
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)from->data[length] & 0xc0) == 0x80)
            length--;
    }
    if (length)
        memcpy(to, from->data, length);
    to[length] = '\0';
}
