/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The words that a process allocates in a call. */
#ifndef BEAMFLAME_CALL_MEMORY_H
#define BEAMFLAME_CALL_MEMORY_H

#include "arguments.h"
#include "wire_calls.h"

const volatile struct wire_memory_fields memory_fields;

static __always_inline bool read_word(__u64 *word, __u64 at)
{
    return read_user(word, sizeof(*word), at);
}

/* `top` is that of the heap. JIT code has it in a register, so that the one in the struct is old.
 */
static __always_inline void take_memory(__u64 process, __u64 top, struct wire_call_memory *memory)
{
    __u64 heap, old_heap, old_top, fragments, reclaimed, scheduler;

    memory->scheduler = 0;
    if (!memory_fields.heap || !read_word(&heap, process + memory_fields.heap) ||
        !read_word(&old_heap, process + memory_fields.old_heap) ||
        !read_word(&old_top, process + memory_fields.old_top) ||
        !read_word(&fragments, process + memory_fields.fragments) ||
        !read_word(&memory->reductions, process + memory_fields.reductions) ||
        !read_word(&scheduler, process + memory_fields.scheduler) ||
        !read_word(&reclaimed, scheduler + memory_fields.reclaimed))
        return;
    memory->scheduler = scheduler;
    memory->words = (top - heap + old_top - old_heap) / sizeof(__u64) + fragments + reclaimed;
}

/* Add the words that the process has allocated during a call, if they are known. */
static __always_inline void add_words(const struct wire_open_call *call, __u64 process, __u64 top,
                                      struct wire_time_row *row)
{
    struct wire_call_memory now;

    take_memory(process, top, &now);
    if (!now.scheduler || now.scheduler != call->memory.scheduler ||
        now.reductions != call->memory.reductions || now.words < call->memory.words)
        return;
    __sync_fetch_and_add(&row->measured, 1);
    __sync_fetch_and_add(&row->measured_weight, call->weight);
    __sync_fetch_and_add(&row->words, (now.words - call->memory.words) * call->weight);
}

#endif
