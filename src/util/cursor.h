// SPDX-License-Identifier: Apache-2.0
/*
 * Read numbers and strings from untrusted bytes.
 *
 * The first problem is kept and stops the cursor: later calls return 0. So a caller can read a
 * whole record and check once. A number has a fixed size, in this machine's byte order, or is a
 * varint. util/buffer.h describes the encodings of varints and strings.
 */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *start, *at, *end;
    const char *problem; /* what is wrong at `at`; NULL: nothing */
};

/* `data` may be NULL if there are no bytes. */
static inline struct cursor cursor_over(const void *data, size_t size)
{
    return (struct cursor){data, data, size ? (const uint8_t *)data + size : data, NULL};
}

/* Record `problem` unless there is one already. */
static inline void cursor_fail(struct cursor *cursor, const char *problem)
{
    if (!cursor->problem)
        cursor->problem = problem;
}

/* Return the next `size` bytes. If there are fewer, `problem` is recorded. NULL on any problem. */
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

/* Read a varint of more than 1 byte. */
uint64_t cursor_long_varint(struct cursor *cursor);

/* Read a varint of at most `max`. A larger one is the problem `problem`. */
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

/* Return `base` plus the next zigzag number (wrapping). Fail with
 * `problem` if the sum is above `max`. */
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

/* Read a counted string of at most `max` bytes. Return its bytes, not terminated; NULL on a
 * problem. */
const char *cursor_counted(struct cursor *cursor, size_t max, size_t *ret_size);

/* Little-endian numbers in memory that need not be aligned. */

static inline void put_le32(void *to, uint32_t value)
{
    value = htole32(value);
    memcpy(to, &value, sizeof(value));
}

static inline uint32_t get_le32(const void *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return le32toh(value);
}
