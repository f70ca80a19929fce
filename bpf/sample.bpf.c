// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * CPU samples: on each perf event that hits a thread of a target, copy what user space needs to
 * say who ran and to rebuild the stack. Nothing is interpreted here but the few fields that say
 * where the stacks lie.
 *
 * The Erlang stack of a process, and what is copied of it:
 *
 *      heap          htop      far        near   stop              hend
 *       │ terms ...   │         │┄┄┄┄┄┄┄┄┄│┄┄┄┄┄┄│━━━━━━━━━━━━━━━━━│  grows to the left
 *                               [far]      [near] [leaf ...][root]
 *
 * In JIT code the machine's stack pointer is its top. In C it is Process.stop, or, where the JIT
 * called the runtime without saving it, a callee-saved register: anywhere between htop and hend.
 * User space finds out by unwinding. What must be known here is only which memory to copy, so the
 * words of the native stack that point below stop say where else to look.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
    PAGE = 4096,
    SCRATCH_LIMIT = 48 * 1024, /* more than all segments together */
    /* Bounds that the verifier keeps track of, however the compiler moves the checks. */
    FILL_MASK = 0xffff,
    COPY_MASK = 0x7fff,
    SCRATCH_BYTES = FILL_MASK + COPY_MASK + 2,
    NATIVE_STACK_MAX = 8 << 20, /* a scheduler's native stack is not deeper */
};

/* Where below `stop` the top of the Erlang stack may be: the lowest pointer just below it, and the
 * highest further down (lower ones point to fresh heap), among rbp and the words next to the
 * JIT's frame, where the first C function has pushed the callee-saved registers. */
struct tops {
    __u64 htop, limit, stop;
    __u64 near, far;
};

/* A sample while it is put together. */
struct scratch {
    struct wire_sample sample;
    __u8 bytes[SCRATCH_BYTES];
    __u64 used; /* of bytes[]; kept in memory so that the verifier sees one state, not one a path */
    struct pt_regs regs;
    struct tops tops;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY); /* one a CPU; per-CPU maps end at 32 KB a value */
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct scratch);
} scratches SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, struct wire_target);
} targets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, struct wire_thread_key);
    __type(value, struct wire_thread);
} schedulers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4 << 20);
} ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

/* Wake the reader when this many bytes wait, not at each sample. */
const volatile __u64 wakeup_bytes = 512 << 10;

static __always_inline void count(__u32 counter)
{
    __u64 *value = bpf_map_lookup_elem(&counters, &counter);

    if (value)
        (*value)++;
}

/* Room for the bytes of the next segment, or NULL. */
static __always_inline void *room(struct scratch *scratch)
{
    __u64 used = scratch->used;

    if (used > SCRATCH_LIMIT)
        return 0;
    barrier_var(used);
    return scratch->bytes + (used & FILL_MASK);
}

static __always_inline void add_segment(struct scratch *scratch, __u32 kind, __u64 address,
                                        __u32 size)
{
    __u32 n = scratch->sample.segment_count;

    if (n >= WIRE_SEGMENTS)
        return;
    scratch->sample.segments[n].address = address;
    scratch->sample.segments[n].size = size;
    scratch->sample.segments[n].kind = kind;
    scratch->sample.segment_count = n + 1;
    scratch->used += size;
}

static __always_inline struct scratch *this_scratch(void)
{
    __u32 cpu = bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&scratches, &cpu);
}

/* Copy [address, address + size), at most `max` bytes, as a segment if all of it can be read.
 * Returns the bytes copied. Global functions are verified once, not at each call. */
__noinline int put(__u32 kind, __u64 address, __u64 size, __u32 max)
{
    struct scratch *scratch = this_scratch();
    void *to;

    if (!scratch || size == 0)
        return 0;
    to = room(scratch);
    if (!to)
        return 0;
    if (size > max)
        size = max;
    barrier_var(size);
    size &= COPY_MASK;
    if (bpf_probe_read_user(to, size, (void *)address))
        return 0;
    add_segment(scratch, kind, address, size);
    return size;
}

/* Copy what can be read of [address, address + size), page by page, up to three pages. Returns
 * the bytes copied. */
__noinline int put_pages(__u32 kind, __u64 address, __u64 size)
{
    __u64 at = address, end = address + size;

    for (int i = 0; i < 3 && at < end; i++) {
        __u64 bytes = PAGE - (at & (PAGE - 1));

        if (bytes > end - at)
            bytes = end - at;
        if (!put(kind, at, bytes, PAGE))
            break;
        at += bytes;
    }
    return at - address;
}

/* ---- registers ---- */

enum { THREAD_SIZE = 16384 }; /* arch/x86/include/asm/page_64_types.h, without KASAN */

enum bpf_func_id___new { BPF_FUNC_task_pt_regs___new = 175 };

static __always_inline void save_registers(struct wire_registers *to, const struct pt_regs *from)
{
    to->value[0] = from->ax;
    to->value[1] = from->dx;
    to->value[2] = from->cx;
    to->value[3] = from->bx;
    to->value[4] = from->si;
    to->value[5] = from->di;
    to->value[6] = from->bp;
    to->value[7] = from->sp;
    to->value[8] = from->r8;
    to->value[9] = from->r9;
    to->value[10] = from->r10;
    to->value[11] = from->r11;
    to->value[12] = from->r12;
    to->value[13] = from->r13;
    to->value[14] = from->r14;
    to->value[15] = from->r15;
    to->value[16] = from->ip;
}

/* The registers that user code had when it entered the kernel, by system call or by the sample's
 * own interrupt, lie at the top of the kernel stack (bpf_task_pt_regs() says so since 5.15; this
 * is what it computes, and works before). */
static __always_inline bool user_registers(struct scratch *scratch, struct task_struct *task)
{
    struct pt_regs *regs = &scratch->regs;
    void *at;

    if (bpf_core_enum_value_exists(enum bpf_func_id___new, BPF_FUNC_task_pt_regs___new))
        at = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    else
        at = (void *)BPF_CORE_READ(task, stack) + THREAD_SIZE - sizeof(*regs);
    if (bpf_probe_read_kernel(regs, sizeof(*regs), at))
        return false;
    if ((regs->cs & 3) != 3) /* not from user code: a kernel thread */
        return false;
    save_registers(&scratch->sample.registers, regs);
    return true;
}

/* ---- stacks ---- */

struct stack_area {
    __u64 sp;   /* user stack pointer */
    __u64 base; /* ErtsSchedulerData.registers: where the JIT's C frame begins; 0 if not known */
    __u64 htop, stop, heap, hend;
};

/* The native stack: up to the JIT's frame where there is one (with its two scratch words TMP_MEM1
 * and TMP_MEM2, beam_asm.hpp), else as much as fits. */
static __always_inline void put_native(const struct stack_area *area)
{
    __u64 sp = area->sp, end = area->base + 24;

    if (!area->base || sp > area->base || end - sp > NATIVE_STACK_MAX) {
        put_pages(SEGMENT_NATIVE, sp, WIRE_C_STACK_BYTES);
        return;
    }
    /* Functions with large arrays leave pages of the stack that were never touched, and can't be
     * read here: take what there is at both ends. */
    if (!put(SEGMENT_NATIVE, sp, end - sp, WIRE_C_STACK_BYTES))
        put_pages(SEGMENT_NATIVE, sp, end - sp);
    else if (end - sp <= WIRE_C_STACK_BYTES)
        return;
    if (end - sp > WIRE_C_ROOT_BYTES)
        put(SEGMENT_NATIVE, end - WIRE_C_ROOT_BYTES, WIRE_C_ROOT_BYTES, WIRE_C_ROOT_BYTES);
}

/* Is this word of the native stack a top? What is found is kept in memory and in a function of its
 * own, so that the verifier does not follow it through the loop that calls this. */
__noinline int consider(__u64 word)
{
    struct scratch *scratch = this_scratch();
    struct tops *tops;

    if (!scratch)
        return 0;
    tops = &scratch->tops;
    if ((word & 7) || word < tops->htop || word >= tops->stop)
        return 0;
    if (word < tops->limit) {
        if (word > tops->far)
            tops->far = word;
    } else if (word < tops->near) {
        tops->near = word;
    }
    return 1;
}

static __always_inline void find_tops(struct scratch *scratch, const struct stack_area *area)
{
    __u64 size = area->base - area->sp;
    __u64 *words = room(scratch); /* not kept: the next segment overwrites them */

    scratch->tops.htop = area->htop;
    scratch->tops.limit = area->stop - WIRE_ERLANG_BELOW_BYTES;
    scratch->tops.stop = scratch->tops.near = area->stop;
    scratch->tops.far = 0;
    consider(scratch->sample.registers.value[6]);
    if (size > WIRE_SCAN_WORDS * sizeof(*words))
        size = WIRE_SCAN_WORDS * sizeof(*words);
    barrier_var(size);
    size &= COPY_MASK;
    if (!words || bpf_probe_read_user(words, size, (void *)(area->base - size)))
        return;
    /* bpf_loop() is there since 5.17 only; this, all verifiers accept, as long as the compiler
     * does not count in a way that they can't follow. */
    for (__u64 i = 0; i < WIRE_SCAN_WORDS && i < size / sizeof(*words); i++) {
        barrier_var(i);
        /* Most words are nowhere near: they are not worth the call. */
        if (words[i] - area->htop < area->stop - area->htop)
            consider(words[i]);
    }
}

static __always_inline void put_below(struct scratch *scratch, const struct stack_area *area)
{
    struct tops *tops = &scratch->tops;

    /* At base itself is JIT code just before or after a call: nothing is pushed, rbp is the top. */
    if (!area->base || area->sp > area->base)
        return;
    find_tops(scratch, area);
    put(SEGMENT_ERLANG, tops->near, area->stop - tops->near, WIRE_ERLANG_BELOW_BYTES);
    if (tops->far) {
        __u64 from = tops->far - 1024; /* a pointer to a Y register lies a little above the top */

        put_pages(SEGMENT_ERLANG, from < area->htop ? area->htop : from, WIRE_ERLANG_FAR_BYTES);
    }
}

static __always_inline void put_erlang(const struct stack_area *area)
{
    bool on_erlang_stack = area->sp > area->heap && area->sp <= area->hend;
    __u64 top = on_erlang_stack ? area->sp : area->stop;
    __u64 depth = area->hend - top;

    if (!depth)
        return;
    if (top > area->heap && top <= area->hend &&
        put(SEGMENT_ERLANG, top, depth, WIRE_ERLANG_LEAF_BYTES)) {
        if (depth > WIRE_ERLANG_LEAF_BYTES)
            put(SEGMENT_ERLANG, area->hend - WIRE_ERLANG_ROOT_BYTES, WIRE_ERLANG_ROOT_BYTES,
                WIRE_ERLANG_ROOT_BYTES);
        return;
    }
    /* In a garbage collection heap and hend can be the new heap's while stop is still the old
     * one's: the old stack is whole, and ends where its bottom frame is found. */
    put_pages(SEGMENT_ERLANG, top, 2 * PAGE);
}

static __always_inline __u64 field(const void *bytes, __u32 offset)
{
    __u64 value = 0;

    if (offset <= WIRE_PROCESS_BYTES - sizeof(value))
        bpf_probe_read_kernel(&value, sizeof(value), bytes + offset);
    return value;
}

/* The Process struct and its stack. */
static __always_inline void put_process(struct scratch *scratch, const struct wire_target *target,
                                        struct stack_area *area)
{
    const void *process = room(scratch);
    __u64 current;

    if (!process ||
        !put(SEGMENT_PROCESS, scratch->sample.process, target->process_size, WIRE_PROCESS_BYTES))
        return;
    area->htop = field(process, target->process_htop);
    area->stop = field(process, target->process_stop);
    area->heap = field(process, target->process_heap);
    area->hend = field(process, target->process_hend);
    current = field(process, target->process_current);
    if (current) /* of a dirty NIF it is overwritten as soon as that returns */
        put(SEGMENT_MFA, current, WIRE_MFA_BYTES, WIRE_MFA_BYTES);
    put_erlang(area);
}

static __always_inline void put_scheduler(struct scratch *scratch, const struct wire_target *target,
                                          const struct wire_thread *thread, struct stack_area *area)
{
    const void *data = room(scratch);
    __u64 sleep_info;

    if (!data ||
        !put(SEGMENT_SCHEDULER, thread->scheduler, WIRE_SCHEDULER_BYTES, WIRE_SCHEDULER_BYTES))
        return;
    scratch->sample.scheduler = thread->scheduler;
    scratch->sample.process = field(data, target->scheduler_process);
    if (thread->type == 0) /* dirty schedulers have no JIT frame */
        area->base = field(data, target->scheduler_registers);
    sleep_info = field(data, target->scheduler_sleep_info);
    if (!scratch->sample.process && sleep_info)
        put(SEGMENT_SLEEP_INFO, sleep_info, 64, 64);
}

static __always_inline void put_kernel_stack(struct scratch *scratch, void *ctx)
{
    long bytes = bpf_get_stack(ctx, scratch->bytes, WIRE_KERNEL_DEPTH * sizeof(__u64), 0);

    if (bytes < 0 || bytes >= (long)(WIRE_KERNEL_DEPTH * sizeof(__u64)))
        scratch->sample.flags |= WIRE_KERNEL_STACK_CUT;
    if (bytes < 0)
        return;
    scratch->sample.kernel_depth = bytes / sizeof(__u64);
    scratch->used = scratch->sample.kernel_depth * sizeof(__u64);
}

static __always_inline void begin(struct scratch *scratch, __u64 id)
{
    struct wire_sample *sample = &scratch->sample;

    sample->time = bpf_ktime_get_ns();
    sample->code_generation = 0;
    sample->scheduler = 0;
    sample->process = 0;
    sample->pid = id >> 32;
    sample->tid = (__u32)id;
    sample->cpu = bpf_get_smp_processor_id();
    sample->flags = 0;
    sample->kernel_depth = 0;
    sample->segment_count = 0;
    scratch->used = 0;
    bpf_get_current_comm(sample->thread_name, sizeof(sample->thread_name));
}

static __always_inline void submit(struct scratch *scratch)
{
    __u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
    __u64 flags = waiting >= wakeup_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
    __u64 used = scratch->used;

    if (used > SCRATCH_LIMIT)
        return;
    barrier_var(used);
    used &= FILL_MASK;
    if (bpf_ringbuf_output(&ring, scratch, sizeof(scratch->sample) + used, flags))
        count(WIRE_COUNT_RING_FULL);
}

/* The stacks of a thread whose registers are known. */
static __always_inline void put_stacks(struct scratch *scratch, const struct wire_target *target,
                                       struct stack_area *area)
{
    area->sp = scratch->sample.registers.value[7];
    if (scratch->sample.process)
        put_process(scratch, target, area);
    if (area->hend && area->sp > area->heap && area->sp <= area->hend)
        return; /* the machine's stack is the Erlang stack */
    put_native(area);
    if (area->hend)
        put_below(scratch, area);
}

SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
    __u64 id = bpf_get_current_pid_tgid();
    __u32 pid = id >> 32;
    struct wire_target *target = bpf_map_lookup_elem(&targets, &pid);
    struct task_struct *task = (void *)bpf_get_current_task();
    struct wire_thread_key key = {.pid = pid};
    struct stack_area area = {};
    struct wire_thread *thread;
    struct scratch *scratch = target ? this_scratch() : 0;

    if (!scratch)
        return 0;
    begin(scratch, id);
    if ((__s64)ctx->regs.ip < 0) {
        scratch->sample.flags |= WIRE_IN_KERNEL;
        put_kernel_stack(scratch, ctx);
    }
    if (user_registers(scratch, task))
        scratch->sample.flags |= WIRE_REGISTERS;
    if (target->code_generation_address)
        bpf_probe_read_user(&scratch->sample.code_generation, sizeof(__u64),
                            (void *)target->code_generation_address);
    key.thread_pointer = BPF_CORE_READ(task, thread.fsbase);
    thread = bpf_map_lookup_elem(&schedulers, &key);
    if (thread)
        put_scheduler(scratch, target, thread, &area);
    if (scratch->sample.flags & WIRE_REGISTERS)
        put_stacks(scratch, target, &area);
    submit(scratch);
    return 0;
}
