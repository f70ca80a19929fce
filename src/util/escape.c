// SPDX-License-Identifier: Apache-2.0
#include "util/escape.h"

void escape_put(struct buffer *buffer, const char *text, size_t size,
                bool (*must_escape)(const char *text, size_t at))
{
    static const char digits[] = "0123456789ABCDEF";
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
