// SPDX-License-Identifier: Apache-2.0
#include "util/cursor.h"

uint64_t cursor_long_varint(struct cursor *cursor)
{
    const uint8_t *at = cursor->at;
    uint64_t value = 0;

    for (unsigned shift = 0; at < cursor->end; shift += 7) {
        uint8_t byte = *at++;

        if (shift == 63 && byte > 1) {
            cursor_fail(cursor, "number has more than 64 bits");
            return 0;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->at = at;
            return value;
        }
    }
    cursor_fail(cursor, "number is cut off");
    return 0;
}

const char *cursor_counted(struct cursor *cursor, size_t max, size_t *ret_size)
{
    uint64_t size = cursor_varint(cursor, max, "string is too long");
    const char *text = cursor_take(cursor, size, "string is cut off");

    if (text)
        *ret_size = size;
    return text;
}
