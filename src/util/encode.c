// SPDX-License-Identifier: Apache-2.0
#include "util/encode.h"

#include <stdint.h>
#include <string.h>

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

void encode_base64(struct buffer *buffer, const void *data, size_t size)
{
    const unsigned char *from = data;

    for (; size > 3; size -= 3, from += 3)
        put_group(buffer, from, 3);
    if (size)
        put_group(buffer, from, size);
}

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

void encode_ascii(FILE *file, const void *data, size_t size)
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

static const char digits[] = "0123456789ABCDEF";

void encode_escapes(struct buffer *buffer, const char *text, size_t size,
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

void encode_undo_escapes(struct buffer *buffer, const char *text, size_t size)
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
