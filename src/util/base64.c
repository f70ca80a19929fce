// SPDX-License-Identifier: Apache-2.0
#include "util/base64.h"

#include <stdint.h>
#include <string.h>

enum { GROUPS = 1024 }; /* of 3 bytes, that are written at once */

/* The 4 characters of up to 3 bytes. */
static void put_group(char *to, const unsigned char *from, size_t size)
{
    enum { PADDING = 64 };
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    uint32_t bits = (uint32_t)from[0] << 16;

    if (size > 1)
        bits |= (uint32_t)from[1] << 8;
    if (size > 2)
        bits |= from[2];
    to[0] = digits[bits >> 18];
    to[1] = digits[bits >> 12 & 63];
    to[2] = digits[size > 1 ? bits >> 6 & 63 : PADDING];
    to[3] = digits[size > 2 ? bits & 63 : PADDING];
}

void base64_write(FILE *file, const void *data, size_t size)
{
    const unsigned char *from = data;
    char text[GROUPS * 4] = {0};

    while (size) {
        size_t used = 0;

        for (; size && used < sizeof(text); used += 4) {
            size_t group = size < 3 ? size : 3;

            put_group(text + used, from, group);
            from += group;
            size -= group;
        }
        fwrite(text, 1, used, file);
    }
}
