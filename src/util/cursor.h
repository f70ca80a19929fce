// SPDX-License-Identifier: Apache-2.0
/*
 * Reading numbers and strings from bytes that may be anything.
 *
 * The first problem is kept and stops the cursor: later calls give 0, so a whole record can be
 * read and checked once. Numbers are of fixed size, in this machine's byte order, or varints; the
 * encodings of those and of strings are util/buffer.h's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *start, *at, *end;
    const char *problem; /* what is wrong at `at`, NULL if nothing is */
};

static inline struct cursor cursor_over(const void *data, size_t size)
{
    return (struct cursor){data, data, (const uint8_t *)data + size, NULL};
}

/* Note a problem, if it is the first. */
static inline void cursor_fail(struct cursor *cursor, const char *problem)
{
    if (!cursor->problem)
        cursor->problem = problem;
}

/* The next `size` bytes, NULL on a problem; `problem` says what is wrong if there are fewer. */
static inline const void *cursor_take(struct cursor *cursor, size_t size, const char *problem)
{
    const uint8_t *at = cursor->at;

    if (size > (size_t)(cursor->end - at))
        cursor_fail(cursor, problem);
    if (cursor->problem)
        return NULL;
    cursor->at += size;
    return at;
}

static inline void cursor_copy(struct cursor *cursor, void *to, size_t size)
{
    const void *bytes = cursor_take(cursor, size, "number is cut off");

    if (bytes)
        memcpy(to, bytes, size);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
    uint16_t value = 0;

    cursor_copy(cursor, &value, sizeof(value));
    return value;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
    uint32_t value = 0;

    cursor_copy(cursor, &value, sizeof(value));
    return value;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
    uint64_t value = 0;

    cursor_copy(cursor, &value, sizeof(value));
    return value;
}

/* A varint of more than 1 byte. */
uint64_t cursor_long_varint(struct cursor *cursor);

/* A varint that must not be above `max`; `problem` says what is wrong if it is. */
static inline uint64_t cursor_varint(struct cursor *cursor, uint64_t max, const char *problem)
{
    uint64_t value;

    if (cursor->problem)
        return 0;
    if (cursor->at < cursor->end && *cursor->at < 0x80)
        value = *cursor->at++;
    else
        value = cursor_long_varint(cursor);
    if (value <= max)
        return value;
    cursor_fail(cursor, problem);
    return 0;
}

/* `base` plus a zigzag number (wrapping), which must not be above `max`. */
static inline uint64_t cursor_delta(struct cursor *cursor, uint64_t base, uint64_t max,
                                    const char *problem)
{
    uint64_t zigzag = cursor_varint(cursor, UINT64_MAX, problem);
    uint64_t value = base + ((zigzag >> 1) ^ (0 - (zigzag & 1)));

    if (cursor->problem)
        return 0;
    if (value <= max)
        return value;
    cursor_fail(cursor, problem);
    return 0;
}

/* A counted string of at most `max` bytes: its bytes, not terminated. NULL on a problem. */
const char *cursor_counted(struct cursor *cursor, size_t max, size_t *ret_size);
