/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Where the stacks of a thread are, and the top of its Erlang stack as far as it shows without
 * unwinding.
 */
#ifndef BEAMFLAME_STACK_AREA_H
#define BEAMFLAME_STACK_AREA_H

#include "sample.h"

struct stack_area {
    __u32 at;   /* the sample's scratch */
    bool apart; /* Erlang stacks are apart from the machine stack */
    __u64 sp;   /* user stack pointer */
    __u64 base; /* ErtsSchedulerData.registers: where the JIT's C frame begins; 0: unknown */
    __u64 top;  /* the register with the Erlang stack's top where stop is stale */
    __u64 htop, stop, heap, hend;
};

static __always_inline bool is_on_erlang_stack(const struct stack_area *area, __u64 address)
{
    return address > area->heap && address <= area->hend;
}

/* The Erlang stack's top if JIT code runs, which has it in a register; else Process.stop. */
static __always_inline __u64 likely_top(const struct stack_area *area)
{
    __u64 top = area->apart ? area->top : area->sp;

    if (area->apart && (!area->base || area->base - area->sp > JIT_APART_ERLANG))
        return area->stop;
    return is_on_erlang_stack(area, top) ? top : area->stop;
}

/* True if the JIT's code saved the stack's top before it called the runtime. If so, the first
 * instruction after the call takes the top back from Process.stop (emit_leave_runtime(),
 * x86/beam_asm.hpp 25.2.3:699, 26.2.1:734). */
static __always_inline bool stop_is_top(const struct stack_area *area)
{
    /* All reads go to one variable: a chain of calls may have 512 bytes of stack. */
    __u64 sp = area->base, word = 0;

    if (area->apart) {
        bpf_probe_read_user(&word, sizeof(word), (void *)(area->base + JIT_APART_SP));
        sp = jit_apart_aligned(word);
    }
    if (bpf_probe_read_user(&word, sizeof(word), (void *)(sp + JIT_FRAME_RETURN)) ||
        bpf_probe_read_user(&word, sizeof(__u32), (void *)word))
        return false;
    return (word & JIT_LOADS_STOP_MASK) == (area->apart ? JIT_APART_LOADS_STOP : JIT_LOADS_STOP);
}

#endif
