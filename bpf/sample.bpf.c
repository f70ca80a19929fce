// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A sample of a target's thread: copy what user space needs to identify the process and to rebuild
 * the stack. These functions interpret only the few fields that locate the stacks.
 *
 * The Erlang stack of a process, and what is copied of it:
 *
 *      heap          htop      far        near   stop              hend
 *       │ terms ...   │         │┄┄┄┄┄┄┄┄┄│┄┄┄┄┄┄│━━━━━━━━━━━━━━━━━│  grows to the left
 *                               [far]      [near] [leaf ...][root]
 *
 * The top of the stack is the lowest address in use. In JIT code, the CPU's stack pointer is the
 * top. In C, Process.stop is the top, unless the JIT called the runtime without saving the top
 * there. Then a callee-saved register holds it, and it is anywhere between htop and hend. User
 * space finds the top by unwinding. Here it is only decided which memory to copy: unless the JIT's
 * code shows that stop is the top, the words of the native stack that point below stop show where
 * else to look.
 *
 * Where Erlang stacks are apart from the machine stack (include/arch.h), JIT code has the top in
 * that callee-saved register, and runs with the CPU's stack pointer at the JIT's C frame.
 */
#include "caller.h"
#include "sample.h"
#include "stack_area.h"
#include "table.h"
#include "trace.h"
#include "vm_constants.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
    WORD_MASK = WIRE_PROCESS_BYTES - sizeof(__u64), /* bound of offsets in structs */
};

struct scratch_map scratches SEC(".maps");
struct target_map targets SEC(".maps");

struct scheduler_map schedulers SEC(".maps");

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

__noinline int sample_put(__u32 at, __u32 kind, __u64 address, __u64 size, __u32 max)
{
    struct scratch *scratch = scratch_at(at);
    void *to;

    if (!scratch || size == 0)
        return 0;
    to = room(scratch);
    if (!to) {
        debug_print("no room for region %u of %llu bytes", kind, size);
        return 0;
    }
    if (size > max)
        size = max;
    barrier_var(size);
    size &= COPY_MASK;
    if (bpf_probe_read_user(to, size, (void *)address)) {
        debug_print("region %u: %llu bytes at %llx can't be read", kind, size, address);
        return 0;
    }
    sample_add_region(scratch, kind, address, size);
    return size;
}

/* Note that memory that the sample needs could not be read. A read that only tests if there is
 * memory is not a fault. */
static __always_inline void note_fault(struct scratch *scratch)
{
    scratch->sample.flags |= WIRE_FAULT;
}

/* Copy as sample_put() does. A failure is a fault. */
static __always_inline int put_needed(struct scratch *scratch, __u32 at, __u32 kind, __u64 address,
                                      __u64 size, __u32 max)
{
    int copied = sample_put(at, kind, address, size, max);

    if (!copied)
        note_fault(scratch);
    return copied;
}

/* Add a region of one word, which is known already. */
__noinline int put_word(__u32 at, __u32 kind, __u64 address, __u64 word)
{
    struct scratch *scratch = scratch_at(at);
    __u64 *to = scratch ? room(scratch) : 0;

    if (!to)
        return 0;
    *to = word;
    sample_add_region(scratch, kind, address, sizeof(word));
    return sizeof(word);
}

/* Copy what can be read of [address, address + size), page by page, up to three pages. Return the
 * bytes copied. */
__noinline int put_pages(__u32 at, __u32 kind, __u64 address, __u64 size)
{
    __u64 next = address, end = address + size;

    for (int i = 0; i < 3 && next < end; i++) {
        __u64 bytes = PAGE - (next & (PAGE - 1));

        if (bytes > end - next)
            bytes = end - next;
        if (!sample_put(at, kind, next, bytes, PAGE))
            break;
        next += bytes;
    }
    return next - address;
}

/* ---- stacks ---- */

/* Copy as much of the stack, from its leaf on, as can be read. It is a fault if nothing can be
 * read: the leaf is in use. */
static __always_inline void put_leaf(struct scratch *scratch, __u32 at, __u32 kind, __u64 top,
                                     __u64 size)
{
    if (!put_pages(at, kind, top, size))
        note_fault(scratch);
}

/* Copy the native stack: up to the JIT's frame where there is one, else as much as fits. */
static __always_inline void put_native(struct scratch *scratch, const struct stack_area *area)
{
    __u64 sp = area->sp, end = area->base + JIT_FRAME_END;

    /* What a fragment has taken off the stack still tells who called it. */
    if (area->apart && area->base - sp < JIT_APART_BELOW)
        sp = area->base - JIT_APART_BELOW;
    if (!area->base || sp > area->base || end - sp > NATIVE_STACK_MAX) {
        put_leaf(scratch, area->at, REGION_NATIVE, sp, WIRE_C_STACK_BYTES);
        return;
    }
    /* Functions with large arrays leave pages of the stack untouched, and these can't be read here.
     * Copy what can be read at both ends. */
    if (!sample_put(area->at, REGION_NATIVE, sp, end - sp, WIRE_C_STACK_BYTES))
        put_leaf(scratch, area->at, REGION_NATIVE, sp, end - sp);
    else if (end - sp <= WIRE_C_STACK_BYTES)
        return;
    if (end - sp > WIRE_C_ROOT_BYTES)
        put_needed(scratch, area->at, REGION_NATIVE, end - WIRE_C_ROOT_BYTES, WIRE_C_ROOT_BYTES,
                   WIRE_C_ROOT_BYTES);
}

/* Note this word of the native stack if it may be a top. This function is not inlined and keeps its
 * result in memory, so that the verifier does not follow the result through the caller's loop. */
__noinline int consider(__u32 at, __u64 word)
{
    struct scratch *scratch = scratch_at(at);
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
    __u64 *words = room(scratch); /* temporary: the next region overwrites them */

    scratch->tops.htop = area->htop;
    scratch->tops.limit = area->stop - WIRE_ERLANG_BELOW_BYTES;
    scratch->tops.stop = scratch->tops.near = area->stop;
    scratch->tops.far = 0;
    consider(area->at, area->top);
    if (size > WIRE_SCAN_WORDS * sizeof(*words))
        size = WIRE_SCAN_WORDS * sizeof(*words);
    barrier_var(size);
    size &= COPY_MASK;
    if (!words || bpf_probe_read_user(words, size, (void *)(area->base - size)))
        return;
    /* bpf_loop() exists since 5.17 only. All verifiers accept this loop, as long as the compiler
     * does not count in a way that they can't follow. */
    for (__u64 i = 0; i < WIRE_SCAN_WORDS && i < size / sizeof(*words); i++) {
        barrier_var(i);
        /* Most words point elsewhere, and are not worth the call. */
        if (words[i] - area->htop < area->stop - area->htop)
            consider(area->at, words[i]);
    }
}

static __always_inline void put_below(struct scratch *scratch, const struct stack_area *area)
{
    struct tops *tops = &scratch->tops;

    /* With sp at base, JIT code is just before or after a call: nothing is pushed. Where the stacks
     * are apart, the return address there may be that of an earlier call. */
    if (!area->base || area->sp > area->base ||
        (!(area->apart && area->base - area->sp < JIT_APART_BELOW) && stop_is_top(area)))
        return;
    find_tops(scratch, area);
    sample_put(area->at, REGION_ERLANG, tops->near, area->stop - tops->near,
               WIRE_ERLANG_BELOW_BYTES);
    if (tops->far) {
        __u64 from = tops->far - 1024; /* it may point to a Y register, a little above the top */

        put_pages(area->at, REGION_ERLANG, from < area->htop ? area->htop : from,
                  WIRE_ERLANG_FAR_BYTES);
    }
}

static __always_inline void put_erlang(struct scratch *scratch, const struct stack_area *area)
{
    __u64 top = likely_top(area);
    __u64 depth = area->hend - top;

    if (!depth)
        return;
    if (is_on_erlang_stack(area, top) &&
        put_needed(scratch, area->at, REGION_ERLANG, top, depth, WIRE_ERLANG_LEAF_BYTES)) {
        if (depth > WIRE_ERLANG_LEAF_BYTES)
            put_needed(scratch, area->at, REGION_ERLANG, area->hend - WIRE_ERLANG_ROOT_BYTES,
                       WIRE_ERLANG_ROOT_BYTES, WIRE_ERLANG_ROOT_BYTES);
        return;
    }
    /* In a garbage collection, heap and hend can be of the new heap while stop is still of the old
     * one. The old stack is then whole, and ends where user space finds its root frame. (An
     * exception is realloc() that cuts or moves the heap, erl_gc.c shrink_new_heap() and
     * grow_new_heap(): Process then still says where the stack was, and there is nothing to
     * read.) */
    put_leaf(scratch, area->at, REGION_ERLANG, top, 2 * PAGE);
}

static __always_inline __u64 field(const void *bytes, __u32 offset)
{
    __u64 value = 0;

    if (offset <= WIRE_PROCESS_BYTES - sizeof(value))
        bpf_probe_read_kernel(&value, sizeof(value), bytes + offset);
    return value;
}

/* A struct was read into the place of the next region. Keep only its words, as that region. The
 * words are in ascending order, so they only move down. */
static __always_inline void keep_words(struct scratch *scratch, __u32 kind, __u64 address,
                                       const struct wire_words *words)
{
    void *bytes = room(scratch);
    __u32 count = words->count;

    if (!bytes || count > WIRE_WORDS)
        return;
    for (__u32 i = 0; i < WIRE_WORDS && i < count; i++) {
        barrier_var(i);
        ((__u64 *)bytes)[i] = *(__u64 *)(bytes + (words->offsets[i] & WORD_MASK));
    }
    sample_add_region(scratch, kind, address, count * sizeof(__u64));
}

/* Read a struct, up to its last word, into the place of the next region. Return 0 if it can't be
 * read, which is a fault. */
static __always_inline int read_struct(struct scratch *scratch, void *to, __u64 address,
                                       const struct wire_words *words)
{
    __u32 last = words->count - 1;
    __u64 size;

    if (last >= WIRE_WORDS)
        return 0;
    size = (words->offsets[last] & WORD_MASK) + sizeof(__u64);
    if (!bpf_probe_read_user(to, size, (void *)address))
        return 1;
    debug_print("a struct of %llu bytes at %llx can't be read", size, address);
    note_fault(scratch);
    return 0;
}

/* While a match specification runs, the scheduler's process is a pseudo process. All data bits of
 * its id are ones (ERTS_INVALID_PID; erl_db_util.c db_prog_match 25.2.3:2114, 27.3.4.1:2215,
 * 29.1.1:2256). */
static __always_inline bool is_pseudo(const void *process, const struct wire_target *target)
{
    __u64 id = field(process, target->process_id) | TAG_IMMED1_MASK;

    return id == ~0ULL || id == ~0U;
}

/* Copy the Process struct and its stack. */
static __always_inline void put_process(struct scratch *scratch, const struct wire_target *target,
                                        struct stack_area *area)
{
    void *process = room(scratch);
    __u64 current, dictionary;
    __u32 state;

    if (!process || !read_struct(scratch, process, scratch->sample.process, &target->process_words))
        return;
    if (is_pseudo(process, target) &&
        (!find_caller(scratch, area->at, target, area->sp, area->base) ||
         !read_struct(scratch, process, scratch->sample.process, &target->process_words)))
        return;
    area->htop = field(process, target->process_htop);
    area->stop = field(process, target->process_stop);
    area->heap = field(process, target->process_heap);
    area->hend = field(process, target->process_hend);
    current = field(process, target->process_current);
    dictionary = field(process, target->process_dictionary);
    state = field(process, target->process_state);
    keep_words(scratch, REGION_PROCESS_WORDS, scratch->sample.process, &target->process_words);
    if (current) /* the MFA of a dirty NIF is overwritten as soon as the NIF returns */
        put_needed(scratch, area->at, REGION_MFA, current, WIRE_MFA_BYTES, WIRE_MFA_BYTES);
    if (target->trace.context && dictionary)
        put_trace(area->at, dictionary, state);
    put_erlang(scratch, area);
}

static __always_inline void put_scheduler(struct scratch *scratch, const struct wire_target *target,
                                          const struct wire_thread *thread, struct stack_area *area)
{
    void *data = room(scratch);
    __u64 sleep_info;

    if (!data || !read_struct(scratch, data, thread->scheduler, &target->scheduler_words))
        return;
    scratch->sample.scheduler = thread->scheduler;
    if (!(scratch->sample.flags & WIRE_AT_REST))
        scratch->sample.process = field(data, target->sched_current_process);
    if (thread->type == ERTS_SCHED_NORMAL) /* dirty schedulers have no JIT frame */
        area->base = field(data, target->sched_registers);
    sleep_info = field(data, target->sched_ssi);
    keep_words(scratch, REGION_SCHEDULER_WORDS, thread->scheduler, &target->scheduler_words);
    if (!scratch->sample.process && sleep_info)
        put_needed(scratch, area->at, REGION_SLEEP_INFO, sleep_info, 64, 64);
}

static __always_inline void put_stacks(struct scratch *scratch, const struct wire_target *target,
                                       struct stack_area *area)
{
    if (scratch->sample.flags & WIRE_REGISTERS) {
        area->sp = scratch->sample.registers.value[CPU_SP];
        area->top = scratch->sample.registers.value[target->saved_top & CPU_REGISTER_MASK];
    }
    if (scratch->sample.process)
        put_process(scratch, target, area);
    if (area->hend && is_on_erlang_stack(area, area->sp))
        return; /* there is no native stack */
    if (!(scratch->sample.flags & WIRE_REGISTERS))
        return;
    put_native(scratch, area);
    if (area->hend)
        put_below(scratch, area);
    if (area->hend && area->base)
        put_table(area->at, area->base + target->x_reg_array, target->magic_binary_numbers);
}

/* Undo what probes change. While a function with a uretprobe runs, the return address on the stack
 * is the kernel's, and the kernel has the true one in a list. An instruction under a uprobe runs in
 * a page of the kernel's (kernel/events/uprobes.c, prepare_uretprobe, pre_ssout). */
static __always_inline void put_probed(struct scratch *scratch, __u32 at)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct uprobe_task *utask = BPF_CORE_READ(task, utask);
    __u64 *pc = &scratch->sample.registers.value[CPU_PC];
    struct return_instance *instance;

    if (!utask)
        return;
    if (*pc && *pc - BPF_CORE_READ(utask, xol_vaddr) < UPROBE_SLOT_BYTES)
        *pc = BPF_CORE_READ(utask, vaddr);
    instance = BPF_CORE_READ(utask, return_instances);
    for (int i = 0; i < WIRE_RETURNS && instance; i++) {
        put_word(at, REGION_RETURN, BPF_CORE_READ(instance, stack),
                 BPF_CORE_READ(instance, orig_ret_vaddr));
        instance = BPF_CORE_READ(instance, next);
    }
}

__noinline int sample_fill(__u32 at)
{
    struct scratch *scratch = scratch_at(at);
    struct stack_area area = {.at = at};
    struct wire_thread_key key = {};
    struct wire_target *target;
    struct wire_thread *thread;

    if (!scratch)
        return 0;
    key.pid = scratch->sample.pid;
    key.thread_pointer = scratch->thread_pointer;
    target = bpf_map_lookup_elem(&targets, &key.pid);
    if (!target)
        return 0;
    if (target->code_generation_address)
        bpf_probe_read_user(&scratch->sample.code_generation, sizeof(__u64),
                            (void *)target->code_generation_address);
    area.apart = !target->native_stack;
    thread = bpf_map_lookup_elem(&schedulers, &key);
    if (thread)
        put_scheduler(scratch, target, thread, &area);
    if (scratch->sample.flags & WIRE_REGISTERS)
        put_probed(scratch, at);
    put_stacks(scratch, target, &area);
    return 1;
}

__noinline int sample_submit(__u32 at)
{
    __u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
    __u64 flags = waiting >= wakeup_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
    struct scratch *scratch = scratch_at(at);
    __u64 used;

    if (!scratch || scratch->used > SCRATCH_LIMIT)
        return 0;
    used = scratch->used;
    barrier_var(used);
    used &= FILL_MASK;
    if (!bpf_ringbuf_output(&ring, scratch, sizeof(scratch->sample) + used, flags))
        return 1;
    debug_print("the ring buffer is full: a sample of %llu bytes is lost", used);
    count(WIRE_COUNT_RING_FULL);
    return 0;
}

__noinline int sample_ring_bell(void)
{
    struct wire_bell bell = {};

    return (int)bpf_ringbuf_output(&ring, &bell, sizeof(bell), BPF_RB_FORCE_WAKEUP);
}

__noinline int sample_note_start(__u32 pid)
{
    struct wire_start start = {.pid = pid};

    return (int)bpf_ringbuf_output(&ring, &start, sizeof(start), BPF_RB_FORCE_WAKEUP);
}
