// SPDX-License-Identifier: Apache-2.0
#include "util/escape.h"

#include <string.h>

static const char digits[] = "0123456789ABCDEF";

void escape_put(struct buffer *buffer, const char *text, size_t size,
                bool (*must_escape)(const char *text, size_t at))
{
    char *at = buffer_reserve(buffer, size * 3);

    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (byte == '%' || must_escape(text, i)) {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        } else {
            *at++ = (char)byte;
        }
    }
    buffer->size = (size_t)(at - buffer->data);
}

/* The value of a hexadecimal digit, -1 for another character. */
static int digit_value(char c)
{
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

void unescape_put(struct buffer *buffer, const char *text, size_t size)
{
    char *at = buffer_reserve(buffer, size);

    for (size_t i = 0; i < size; i++) {
        int high = text[i] == '%' && size - i > 2 ? digit_value(text[i + 1]) : -1;
        int low = high >= 0 ? digit_value(text[i + 2]) : -1;

        if (low >= 0) {
            *at++ = (char)(high << 4 | low);
            i += 2;
        } else {
            *at++ = text[i];
        }
    }
    buffer->size = (size_t)(at - buffer->data);
}
