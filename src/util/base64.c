// SPDX-License-Identifier: Apache-2.0
#include "util/base64.h"

#include <stdint.h>

/* The 4 characters of up to 3 bytes. */
static void put_group(FILE *file, const unsigned char *from, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)from[0] << 16;

    if (size > 1)
        bits |= (uint32_t)from[1] << 8;
    if (size > 2)
        bits |= from[2];
    putc_unlocked(digits[bits >> 18], file);
    putc_unlocked(digits[bits >> 12 & 63], file);
    putc_unlocked(size > 1 ? digits[bits >> 6 & 63] : '=', file);
    putc_unlocked(size > 2 ? digits[bits & 63] : '=', file);
}

void base64_write(FILE *file, const void *data, size_t size)
{
    const unsigned char *from = data;

    for (; size > 3; size -= 3, from += 3)
        put_group(file, from, 3);
    if (size)
        put_group(file, from, size);
}
