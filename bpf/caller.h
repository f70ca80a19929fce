// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The process that called a match specification. While one runs, the scheduler's process is a
 * pseudo process.
 */
#ifndef BEAMFLAME_CALLER_H
#define BEAMFLAME_CALLER_H

#include "sample.h"
#include "vm_constants.h"

enum { CALLER_STEP = 16 /* words that one call considers */ };

/* Take the process at this address for the sampled one, if there is a process that runs on this
 * scheduler. Only one does, besides the pseudo process. */
__noinline int consider_process(__u32 at, __u64 address, __u32 scheduler_data, __u32 id)
{
    struct scratch *scratch = scratch_at(at);
    __u64 scheduler = 0, term = 0;

    if (!scratch || address == scratch->sample.process)
        return 0;
    if (bpf_probe_read_user(&scheduler, sizeof(scheduler), (void *)(address + scheduler_data)) ||
        scheduler != scratch->sample.scheduler)
        return 0;
    if (bpf_probe_read_user(&term, sizeof(term), (void *)(address + id)) ||
        (term & TAG_IMMED1_MASK) != TAG_IMMED1_PID)
        return 0;
    scratch->sample.process = address;
    return 1;
}

/* Check up to CALLER_STEP of the words that find_caller() has read, beginning with number `first`.
 * This is a global function, so that the verifier checks it once and not on each path to it. */
__noinline int consider_words(__u32 at, __u32 first, __u32 count, __u32 scheduler_data, __u32 id)
{
    struct scratch *scratch = scratch_at(at);
    __u64 *words = scratch ? room(scratch) : 0;

    for (__u32 i = 0; words && i < CALLER_STEP && first + i < count; i++) {
        __u64 word;

        barrier_var(i);
        word = words[(first + i) & (WIRE_CALLER_WORDS - 1)];
        /* Addresses of the stack itself and of no struct are not worth the call. */
        if ((word & 7) || word < PAGE ||
            word - scratch->sample.registers.value[CPU_SP] < NATIVE_STACK_MAX)
            continue;
        if (consider_process(at, word, scheduler_data, id))
            return 1;
    }
    return 0;
}

/* Find the process that called a match specification: db_prog_match() and its callers keep its
 * address on the native stack, which begins at `sp`. `base` is where the JIT's C frame begins; 0:
 * unknown. */
static __always_inline int find_caller(struct scratch *scratch, __u32 at,
                                       const struct wire_target *target, __u64 sp, __u64 base)
{
    __u64 *words = room(scratch); /* temporary: the next region overwrites them */
    __u64 size = WIRE_CALLER_WORDS * sizeof(*words);

    if (base > sp && base - sp < size)
        size = base - sp;
    barrier_var(size);
    size &= COPY_MASK;
    if (!words || bpf_probe_read_user(words, size, (void *)sp))
        return 0;
    for (__u32 first = 0; first < WIRE_CALLER_WORDS; first += CALLER_STEP) {
        barrier_var(first);
        if (consider_words(at, first, size / sizeof(*words), target->process_scheduler_data,
                           target->process_id))
            return 1;
    }
    return 0;
}

#endif
