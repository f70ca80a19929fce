// SPDX-License-Identifier: Apache-2.0
/* The types of a VM's threads, by the names that the VM gives them. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

/* The types that microstate accounting knows, and all other threads. */
enum thread_type {
    THREAD_SCHEDULER,
    THREAD_DIRTY_CPU,
    THREAD_DIRTY_IO,
    THREAD_AUX,
    THREAD_POLL,
    THREAD_ASYNC,
    THREAD_OTHER,
    THREAD_TYPES,
};

/* As in erlang:statistics(microstate_accounting): "dirty_cpu_scheduler". */
const char *thread_type_name(enum thread_type type);

/* The type of the thread with this name; *ret_number is its number in the accounting (0 for
 * THREAD_OTHER). */
enum thread_type thread_type_of(const char *name, uint32_t *ret_number);

/*
 * The time that each thread of the VMs was on a CPU or waited for one, as the kernel counts it.
 * Samples can only estimate the first, and can't see the second.
 */

struct thread_time {
    thread_id thread;
    uint64_t from, to; /* ns, CLOCK_MONOTONIC: first and last reading */
    uint64_t cpu_ns;   /* between these readings: on a CPU */
    uint64_t wait_ns;  /* the same: runnable, but without a CPU */
    /* Time of the thread's CPU samples by their clock, before they were scaled to the CPU time that
     * the kernel accounts to the VM. */
    uint64_t sampled_ns;
};

/* All zero is empty. */
struct thread_times {
    struct thread_time *list;
    size_t count, room;
};

/* The most threads of which a recording has the times: all fit in a chunk. */
enum { THREAD_TIMES_MAX = 16384 };

void thread_times_add(struct thread_times *times, const struct thread_time *time);
void thread_times_free(struct thread_times *times);

/* Keep the THREAD_TIMES_MAX threads that ran and waited longest. Return how many were removed. */
size_t thread_times_limit(struct thread_times *times);

/* Encode to bytes (recording_format.h), and decode. Decoding replaces the content; on error, it
 * sets cursor->problem. */
void thread_times_encode(const struct thread_times *times, struct buffer *bytes);
void thread_times_decode(struct thread_times *times, const struct profile *profile,
                         struct cursor *cursor);
