// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Shared by the programs of all events. A program begins a sample in a scratch, fills it with what
 * user space needs to identify the process and to rebuild the stack, and submits it to the ring
 * buffer.
 *
 * Functions take the number of a scratch instead of a pointer: global functions, which the verifier
 * checks once and not at each call, take numbers only (until Linux 5.13).
 */
#ifndef BEAMFLAME_SAMPLE_H
#define BEAMFLAME_SAMPLE_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "debug.h"
#include "registers.h"
#include "wire.h"

enum {
    SCRATCH_LIMIT = 48 * 1024, /* more than all regions together */
    /* Bounds that the verifier sees, wherever the compiler moves the checks. */
    FILL_MASK = 0xffff,
    COPY_MASK = 0x7fff,
    SCRATCH_BYTES = FILL_MASK + COPY_MASK + 2,

    PAGE = 4096,
    NATIVE_STACK_MAX = 8 << 20, /* a scheduler's native stack is not deeper */
};

/* Where the top of the Erlang stack may be if it is below `stop`: `near` is the lowest candidate in
 * [limit, stop), `far` the highest one below `limit` (lower ones point to fresh heap). The
 * candidates are the register in which the JIT saves the top, and the words next to the JIT's
 * frame, where the first C function has pushed the callee-saved registers. */
struct tops {
    __u64 htop, limit, stop;
    __u64 near, far;
};

/* A buffer for one sample in progress. */
struct scratch {
    struct wire_sample sample;
    __u8 bytes[SCRATCH_BYTES];
    __u64 used; /* used bytes of bytes[]; in memory, so that the verifier has one state for all
                 * paths */
    __u64 thread_pointer; /* of the sampled thread */
    struct pt_regs regs;
    struct tops tops;
    __u64 trace[6]; /* words that trace.h reads: a stack has no room for them */
    __u32 busy;     /* claimed by a program, which can be preempted */
};

struct scratch_map {
    __uint(type, BPF_MAP_TYPE_ARRAY); /* WIRE_SCRATCHES per CPU; a value of a per-CPU map has 32 KB
                                       * at most */
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct scratch);
};
extern struct scratch_map scratches SEC(".maps");

struct target_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, struct wire_target);
};
extern struct target_map targets SEC(".maps");

struct scheduler_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, struct wire_thread_key);
    __type(value, struct wire_thread);
};
extern struct scheduler_map schedulers SEC(".maps");

/* A thread that is ending has no memory (`mm`) any more. */
static __always_inline bool is_of_target(const struct wire_target *target)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct mm_struct *memory = BPF_CORE_READ(task, mm);

    if (BPF_CORE_READ(task, group_leader, start_boottime) - target->started >= WIRE_START_NS)
        return false;
    return !target->start_stack || !memory ||
           BPF_CORE_READ(memory, start_stack) == target->start_stack;
}

/* The target that the current thread belongs to; NULL if it belongs to none. */
static __always_inline struct wire_target *this_target(void)
{
    __u32 pid = bpf_get_current_pid_tgid() >> 32;
    struct wire_target *target = bpf_map_lookup_elem(&targets, &pid);

    return target && is_of_target(target) ? target : 0;
}

static __always_inline struct scratch *scratch_at(__u32 at)
{
    return bpf_map_lookup_elem(&scratches, &at);
}

/* Room for the bytes of the next region, or NULL. */
static __always_inline void *room(struct scratch *scratch)
{
    __u64 used = scratch->used;

    if (used > SCRATCH_LIMIT)
        return 0;
    barrier_var(used);
    return scratch->bytes + (used & FILL_MASK);
}

/* Add the next region, whose bytes have been written to [used, used + size). */
static __always_inline void sample_add_region(struct scratch *scratch, __u32 kind, __u64 address,
                                              __u32 size)
{
    __u32 n = scratch->sample.region_count;

    if (n >= WIRE_REGIONS)
        return;
    scratch->sample.regions[n].address = address;
    scratch->sample.regions[n].size = size;
    scratch->sample.regions[n].kind = kind;
    scratch->sample.region_count = n + 1;
    scratch->used += size;
}

/* Begin a sample of the current thread in a scratch. */
static __always_inline void sample_begin(struct scratch *scratch, struct task_struct *task)
{
    struct wire_sample *sample = &scratch->sample;
    __u64 id = bpf_get_current_pid_tgid();

    sample->time = bpf_ktime_get_ns();
    sample->code_generation = 0;
    sample->scheduler = 0;
    sample->process = 0;
    sample->pid = id >> 32;
    sample->tid = (__u32)id;
    sample->cpu = bpf_get_smp_processor_id();
    sample->flags = 0;
    sample->kernel_depth = 0;
    sample->region_count = 0;
    scratch->used = 0;
    scratch->thread_pointer = thread_pointer_of(task);
    bpf_get_current_comm(sample->thread_name, sizeof(sample->thread_name));
}

static __always_inline void sample_registers(struct scratch *scratch, const struct pt_regs *from)
{
    registers_copy(&scratch->sample.registers, from);
    scratch->sample.flags |= WIRE_REGISTERS;
}

enum bpf_func_id___new { BPF_FUNC_task_pt_regs___new = 175 };

/* The address of the registers that user code had when it entered the kernel, by a system call or
 * by the sample's own interrupt. They lie at the top of the kernel stack. bpf_task_pt_regs()
 * returns that address since 5.15; the computation here is the same and works before. A kernel
 * thread has no such registers. */
static __always_inline void *saved_registers(struct task_struct *task)
{
    if (bpf_core_enum_value_exists(enum bpf_func_id___new, BPF_FUNC_task_pt_regs___new))
        return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    return (void *)BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - sizeof(struct pt_regs);
}

static __always_inline void user_registers(struct scratch *scratch, struct task_struct *task)
{
    struct pt_regs *regs = &scratch->regs;

    if (!bpf_probe_read_kernel(regs, sizeof(*regs), saved_registers(task)) &&
        registers_are_user(regs))
        sample_registers(scratch, regs);
}

/* Copy [address, address + size), at most `max` bytes, as a region of the sample in scratch `at`.
 * Return the bytes copied; 0 if not all of them can be read. */
int sample_put(__u32 at, __u32 kind, __u64 address, __u64 size, __u32 max);

/* Copy the structs of scheduler and process and the stacks, as far as the sample's flags and
 * registers allow. The caller has checked this_target(). The process is the scheduler's current
 * one, or with WIRE_AT_REST the one that the sample names. */
int sample_fill(__u32 at);

/* Hand the sample over to user space. */
int sample_submit(__u32 at);

/* Wake user space at once. */
int sample_ring_bell(void);

/* Tell user space at once that the process `pid` runs a new program. */
int sample_note_start(__u32 pid);

#endif
