// SPDX-License-Identifier: Apache-2.0
/* A byte array that grows at its end. A buffer of zeros is empty. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *data;
    size_t size, capacity;
};

void buffer_free(struct buffer *buffer);

/* Make room for `extra` more bytes and return its start, data + size. Never NULL. */
char *buffer_reserve(struct buffer *buffer, size_t extra);
void buffer_put(struct buffer *buffer, const void *data, size_t size);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append unsigned LEB128: 7 bits a byte, low bits first, the high bit set in all bytes but the
 * last. */
void buffer_varint(struct buffer *buffer, uint64_t value);
/* Append a signed number as a varint, short for small magnitudes: 0, -1, 1, -2... become 0, 1, 2,
 * 3... */
void buffer_zigzag(struct buffer *buffer, int64_t value);
/* Append the length as a varint, then the bytes without the NUL. */
void buffer_counted(struct buffer *buffer, const char *text);
