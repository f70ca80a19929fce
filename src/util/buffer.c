// SPDX-License-Identifier: Apache-2.0
#include "util/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

char *buffer_reserve(struct buffer *buffer, size_t extra)
{
    if (extra > SIZE_MAX / 2 - buffer->size)
        abort();
    if (!buffer->data || buffer->capacity - buffer->size < extra) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : 256;

        if (capacity < buffer->size + extra)
            capacity = buffer->size + extra;
        buffer->data = xrealloc(buffer->data, capacity);
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->size;
}

void buffer_put(struct buffer *buffer, const void *data, size_t size)
{
    if (!size)
        return;
    memcpy(buffer_reserve(buffer, size), data, size);
    buffer->size += size;
}

void buffer_byte(struct buffer *buffer, char byte)
{
    *buffer_reserve(buffer, 1) = byte;
    buffer->size++;
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_put(buffer, text, strlen(text));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list args, again;
    int size;

    va_start(args, format);
    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0)
        abort();
    vsnprintf(buffer_reserve(buffer, (size_t)size + 1), (size_t)size + 1, format, again);
    va_end(again);
    buffer->size += (size_t)size;
}

void buffer_varint(struct buffer *buffer, uint64_t value)
{
    char *at = buffer_reserve(buffer, 10);

    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    buffer->size = (size_t)(at - buffer->data);
}

void buffer_zigzag(struct buffer *buffer, int64_t value)
{
    buffer_varint(buffer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void buffer_counted(struct buffer *buffer, const char *text)
{
    size_t size = strlen(text);

    buffer_varint(buffer, size);
    buffer_put(buffer, text, size);
}
