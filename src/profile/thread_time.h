// SPDX-License-Identifier: Apache-2.0
/*
 * How long each thread of the VMs was on a CPU and waited for one, as the kernel counts it: what
 * samples can only estimate, and what they can't see at all.
 */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

struct thread_time {
    thread_id thread;
    uint64_t from, to; /* ns, CLOCK_MONOTONIC: when it was read first and last */
    uint64_t cpu_ns;   /* between these: on a CPU */
    uint64_t wait_ns;  /* able to run, but without a CPU */
    /* What the clock of CPU samples gave to its samples, before they were scaled to the time that
     * the kernel accounts to the VM. */
    uint64_t sampled_ns;
};

/* All zero is empty. */
struct thread_times {
    struct thread_time *list;
    size_t count, room;
};

void thread_times_add(struct thread_times *times, const struct thread_time *time);
void thread_times_free(struct thread_times *times);

/* As bytes (recording_format.h), and back: replaces what there was. */
void thread_times_encode(const struct thread_times *times, struct buffer *bytes);
void thread_times_decode(struct thread_times *times, const struct profile *profile,
                         struct cursor *cursor);
