// SPDX-License-Identifier: Apache-2.0
/* A version of memory that one thread or process writes and others read, where none waits for the
 * other. A reader copies the memory, and reads again what was written meanwhile. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is ready. */
struct seqlock {
    _Atomic uint64_t version; /* odd while the memory is written */
};

static inline void seqlock_write_begin(struct seqlock *lock)
{
    atomic_fetch_add(&lock->version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

static inline void seqlock_write_end(struct seqlock *lock)
{
    atomic_thread_fence(memory_order_seq_cst);
    atomic_fetch_add(&lock->version, 1);
}

/* False if the memory is being written: try again. */
static inline bool seqlock_read_begin(const struct seqlock *lock, uint64_t *ret_version)
{
    *ret_version = atomic_load(&lock->version);
    return *ret_version % 2 == 0;
}

/* False if the memory was written since the begin: what was copied is worth nothing. */
static inline bool seqlock_read_end(const struct seqlock *lock, uint64_t version)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load(&lock->version) == version;
}
