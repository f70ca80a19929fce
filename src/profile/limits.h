// SPDX-License-Identifier: Apache-2.0
/*
 * Limits on the memory and work that a file may cause. A few packed bytes can name millions of
 * frames, so each limit is a constant plus a multiple of the bytes of the file. A recorder stays
 * far below: it reads 65,536 words of a stack at most, and its bytes are 20 to 1,000 times what
 * they name.
 */
#pragma once

#include <stdint.h>

#include "profile/profile.h"

enum {
    STACK_FRAMES_MAX = 1 << 17, /* of one stack */
    ANCESTORS_MAX_DEPTH = 1024, /* of one process */
    TARGETS_MAX = 1 << 14,
};

static inline uint64_t limit_of_bytes(uint64_t least, uint64_t factor, uint64_t bytes)
{
    return bytes > (UINT64_MAX - least) / factor ? UINT64_MAX : least + factor * bytes;
}

/* True if the tables of a profile are larger than a file of `bytes` may make them. */
static inline bool limits_tables_exceeded(const struct profile *profile, uint64_t bytes)
{
    return profile_size(profile) > limit_of_bytes(UINT64_C(32) << 20, 256, bytes);
}

/* True if a file of `bytes` has more entries of tables than it may. */
static inline bool limits_entries_exceeded(uint64_t count, uint64_t bytes)
{
    return count > limit_of_bytes(UINT64_C(1) << 22, 32, bytes);
}

/* The frames of all samples together, of a file of `bytes`. */
static inline uint64_t limits_frames(uint64_t bytes)
{
    return limit_of_bytes(UINT64_C(1) << 27, 1 << 16, bytes);
}

/* The bytes of the stacks in outputs, of a file of `bytes`. */
static inline uint64_t limits_output(uint64_t bytes)
{
    return limit_of_bytes(UINT64_C(1) << 30, 1 << 16, bytes);
}
