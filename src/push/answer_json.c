// SPDX-License-Identifier: Apache-2.0
#include "push/push_format.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/buffer.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Take `character` off the front, and white space before it. False if it is not there. */
static bool take(struct span *text, char character)
{
    while (text->size && is_space(*text->at))
        *text = span_skip(*text, 1);
    if (!text->size || *text->at != character)
        return false;
    *text = span_skip(*text, 1);
    return true;
}

static void put_utf8(struct buffer *buffer, uint32_t point)
{
    if (point < 0x80) {
        buffer_byte(buffer, (char)point);
    } else if (point < 0x800) {
        buffer_byte(buffer, (char)(0xc0 | point >> 6));
        buffer_byte(buffer, (char)(0x80 | (point & 0x3f)));
    } else {
        if (point < 0x10000) {
            buffer_byte(buffer, (char)(0xe0 | point >> 12));
        } else {
            buffer_byte(buffer, (char)(0xf0 | point >> 18));
            buffer_byte(buffer, (char)(0x80 | (point >> 12 & 0x3f)));
        }
        buffer_byte(buffer, (char)(0x80 | (point >> 6 & 0x3f)));
        buffer_byte(buffer, (char)(0x80 | (point & 0x3f)));
    }
}

/* Take the 4 digits of \uXXXX. False if they are none. */
static bool take_unit(struct span *text, uint32_t *ret_unit)
{
    char digits[5] = "", *end;

    if (text->size < 4)
        return false;
    memcpy(digits, text->at, 4);
    *ret_unit = (uint32_t)strtoul(digits, &end, 16);
    *text = span_skip(*text, 4);
    return end == digits + 4 && strspn(digits, "0123456789abcdefABCDEF") == 4;
}

/* Take \uXXXX after the 'u', and the second half of a surrogate pair. A half alone is encoded like
 * a character, which is not valid UTF-8. */
static bool take_point(struct span *text, struct buffer *value)
{
    uint32_t point, second;
    struct span rest;

    if (!take_unit(text, &point))
        return false;
    if (point >= 0xd800 && point < 0xdc00 && span_begins(*text, "\\u")) {
        rest = span_skip(*text, 2);
        if (take_unit(&rest, &second) && second >= 0xdc00 && second < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
            *text = rest;
        }
    }
    put_utf8(value, point);
    return true;
}

/* Take an escape after its backslash. */
static bool take_escape(struct span *text, struct buffer *value)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (!text->size)
        return false;
    found = memchr(escapes, *text->at, sizeof(escapes) - 1);
    if (!found && *text->at != 'u')
        return false;
    *text = span_skip(*text, 1);
    if (!found)
        return take_point(text, value);
    buffer_byte(value, meant[found - escapes]);
    return true;
}

/* Take a string off the front, and append its value. */
static bool take_string(struct span *text, struct buffer *value)
{
    if (!take(text, '"'))
        return false;
    while (text->size) {
        char c = *text->at;

        *text = span_skip(*text, 1);
        if (c == '"')
            return true;
        if (c != '\\')
            buffer_byte(value, c);
        else if (!take_escape(text, value))
            return false;
    }
    return false;
}

/* Take any value off the front. Inside brackets, only brackets and strings matter. */
static bool skip_value(struct span *text)
{
    struct buffer ignored = {0};
    bool valid = true;
    size_t depth = 0;

    while (valid && text->size) {
        char c = *text->at;

        if (!depth && (c == ',' || c == '}' || c == ']'))
            break;
        if (c == '"') {
            valid = take_string(text, &ignored);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        *text = span_skip(*text, 1);
    }
    buffer_free(&ignored);
    return valid && text->size;
}

/* Take "KEY": off the front, and end the key with a NUL. */
static bool take_key(struct span *text, struct buffer *key)
{
    key->size = 0;
    if (!take_string(text, key) || !take(text, ':'))
        return false;
    buffer_byte(key, '\0');
    return true;
}

char *answer_json_text(struct span json, const char *key)
{
    struct buffer text = {0};
    char *value = NULL;
    struct span before;

    if (!take(&json, '{'))
        return NULL;
    while (!value && take_key(&json, &text)) {
        bool found = strcmp(text.data, key) == 0;

        text.size = 0;
        before = json;
        if (found && take_string(&before, &text))
            value = xstrndup(text.data, text.size);
        else if (!skip_value(&json) || !take(&json, ','))
            break;
    }
    buffer_free(&text);
    return value;
}
