// SPDX-License-Identifier: Apache-2.0
#include "util/ascii.h"

#include <stdint.h>

enum { ESCAPE = '^', FLIPPED = 0x40 };

static void put(FILE *file, unsigned bits)
{
    char character = (char)(bits & 0x7f);

    if (character == '\0' || character == '\r' || character == '<' || character == ESCAPE) {
        putc_unlocked(ESCAPE, file);
        character ^= FLIPPED;
    }
    putc_unlocked(character, file);
}

void ascii_write(FILE *file, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    unsigned bits = 0, count = 0; /* not yet written */

    for (size_t i = 0; i < size; i++) {
        bits |= (unsigned)bytes[i] << count;
        for (count += 8; count >= 7; count -= 7) {
            put(file, bits);
            bits >>= 7;
        }
    }
    if (count)
        put(file, bits);
}
