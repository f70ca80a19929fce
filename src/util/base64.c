// SPDX-License-Identifier: Apache-2.0
#include "util/base64.h"

#include <stdint.h>

/* The 4 characters of up to 3 bytes. */
static void put_group(struct buffer *buffer, const unsigned char *from, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char group[] = "====";
    uint32_t bits = (uint32_t)from[0] << 16;

    if (size > 1)
        bits |= (uint32_t)from[1] << 8;
    if (size > 2)
        bits |= from[2];
    for (size_t i = 0; i <= size; i++)
        group[i] = digits[bits >> (18 - 6 * i) & 63];
    buffer_put(buffer, group, 4);
}

void base64_put(struct buffer *buffer, const void *data, size_t size)
{
    const unsigned char *from = data;

    for (; size > 3; size -= 3, from += 3)
        put_group(buffer, from, 3);
    if (size)
        put_group(buffer, from, size);
}
