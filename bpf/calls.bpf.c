// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Counts calls of Erlang functions and BIFs, by caller, by process and by arguments, and measures
 * how long they take and how many words their processes allocate meanwhile: runs at each hit of a
 * hardware breakpoint on a function's entry, or where a call returns to
 * (src/capture/call_counter.h).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "registers.h"
#include "wire_calls.h"

#include "arguments.h"
#include "call_memory.h"
#include "match.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The offset of the pid term in struct process. */
const volatile __u32 process_id;

/* The offset of the end of the stack in struct process; 0: no times are measured. */
const volatile __u32 process_hend;

/* Calls that take as long are listed, ns; 0: none. */
const volatile __u64 slow_ns;

/* Rows of processes are by caller, too. */
const volatile bool by_caller;

/* Where a process has the return address of a call of a BIF: bytes from the top of its stack, which
 * is at `process_stop` in its struct. */
const volatile __u32 process_stop, bif_return;

/* When calls began to count, ns. A call that began before may have returned unseen. */
__u64 opened;

/* What breakpoints add to the time of a call, ns. */
__u64 own_time;

/* The number of the code map: user space adds one each time that the VM's code has changed. Equal
 * return addresses may be in different code at different times. */
__u32 code;

/* The weight of a call now. */
__u64 weight = WIRE_CALL_WEIGHT;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_SITES);
    __type(key, __u64);
    __type(value, struct wire_call_site);
} sites SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_CALL_COUNTS);
    __type(key, __u32);
    __type(value, struct wire_call_counts);
} counts SEC(".maps");

#include "call_split.h" /* counts hits, too */

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, WIRE_CALL_ENTRIES);
    __type(key, struct wire_call_key);
    __type(value, struct wire_call_row);
} callers SEC(".maps"), processes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_SITES);
    __type(key, __u64);   /* a return address */
    __type(value, __u64); /* when it got its breakpoint, ns; before, calls returned unseen */
} returns SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_ENTRIES);
    __type(key, struct wire_call_frame);
    __type(value, struct wire_open_call);
} open_calls SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_TIMES);
    __type(key, struct wire_time_key);
    __type(value, struct wire_time_row);
} times SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_PART_TIMES);
    __type(key, struct wire_part_key);
    __type(value, struct wire_part_row);
} part_times SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_ARGUMENT_OPEN);
    __type(key, struct wire_call_frame);
    __type(value, struct wire_arguments);
} open_arguments SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, WIRE_SLOW_BYTES);
} slow SEC(".maps");

static __always_inline bool is_still_there(const struct wire_call_site *site, __u64 entry)
{
    __u64 mfa[WIRE_CALL_MFA_WORDS];

    if (site->is_bif)
        return true;
    return !bpf_probe_read_user(mfa, sizeof(mfa), (void *)(entry - sizeof(mfa))) &&
           mfa[0] == site->mfa[0] && mfa[1] == site->mfa[1] && mfa[2] == site->mfa[2];
}

/* Count a call, unless the map is full. The kernel handles a breakpoint of user code with
 * interrupts off, so nothing else changes this CPU's row. Two CPUs may add the key at once. */
static __always_inline void count_in(void *map, const struct wire_call_key *key)
{
    struct wire_call_row none = {}, *row = bpf_map_lookup_elem(map, key);

    if (!row) {
        bpf_map_update_elem(map, key, &none, BPF_NOEXIST);
        row = bpf_map_lookup_elem(map, key);
    }
    if (!row)
        return;
    row->calls++;
    row->weight += weight;
}

/* ---- times ---- */

/* The frame of a call whose return address is at `slot`. */
static __always_inline bool find_frame(__u64 process, __u64 slot, struct wire_call_frame *frame)
{
    __u64 end;

    if (bpf_probe_read_user(&end, sizeof(end), (void *)(process + process_hend)) || end <= slot)
        return false;
    frame->process = process;
    frame->depth = end - slot;
    return true;
}

/* A call begins that does not match. The one that had its place before has ended, unless this is a
 * round of its loop. */
static __always_inline void skip_call(const struct wire_call_site *site, __u64 process, __u64 slot,
                                      struct wire_call_counts *sums)
{
    struct wire_call_frame frame = {};
    struct wire_open_call *before;
    __u64 caller;

    if (!find_frame(process, slot, &frame))
        return;
    before = bpf_map_lookup_elem(&open_calls, &frame);
    if (!before || !read_word(&caller, slot) ||
        (site->loops && before->caller == caller && before->function == site->function))
        return;
    if (before->began >= opened)
        sums->replaced++;
    bpf_map_delete_elem(&open_calls, &frame);
}

/* The addresses of a call's process, of the return address on its stack, of its arguments, and of
 * the top of its heap; and its pid term. */
struct call_place {
    __u64 process, slot, arguments, heap_top, pid;
};

/* A call begins, and returns to `caller->who`. The call that had its place before has ended in
 * another way than by a return, or it was not seen, unless this is a round of its loop. A function
 * of its own, so that its stack is not in use while arguments are matched. */
static __noinline void begin_call(const struct wire_call_site *site, const struct call_place *place,
                                  const struct wire_call_key *caller,
                                  const struct arguments_copy *copy, struct wire_call_counts *sums)
{
    __u64 *since = bpf_map_lookup_elem(&returns, &caller->who);
    struct wire_call_frame frame = {};
    struct wire_open_call *before, begun = {};

    if (!since || !find_frame(place->process, place->slot, &frame))
        return;
    before = bpf_map_lookup_elem(&open_calls, &frame);
    if (before && before->began >= opened && before->began >= *since) {
        if (before->pid != place->pid)
            sums->ended++;
        else if (!site->loops || before->caller != caller->who ||
                 before->function != site->function)
            sums->replaced++;
        else
            return;
    }
    begun.began = bpf_ktime_get_ns();
    begun.weight = weight;
    begun.pid = place->pid;
    begun.caller = caller->who;
    begun.function = site->function;
    begun.code = caller->code;
    take_memory(place->process, place->heap_top, &begun.memory);
    begin_split(place->process, frame.depth, &begun);
    if (bpf_map_update_elem(&open_calls, &frame, &begun, BPF_ANY))
        sums->no_room++;
    else if (slow_ns && copy)
        bpf_map_update_elem(&open_arguments, &frame, &copy->row.arguments, BPF_ANY);
}

/* All CPUs share the rows. Return the row, or NULL. */
static __always_inline struct wire_time_row *add_time(const struct wire_open_call *call, __u64 ns,
                                                      struct wire_call_counts *sums)
{
    struct wire_time_key key = {.caller = call->caller,
                                .code = call->code,
                                .function = call->function,
                                .bucket = wire_time_bucket(ns)};
    struct wire_time_row none = {}, *row = bpf_map_lookup_elem(&times, &key);

    if (!row) {
        bpf_map_update_elem(&times, &key, &none, BPF_NOEXIST);
        row = bpf_map_lookup_elem(&times, &key);
    }
    if (!row) {
        sums->untimed++;
        return 0;
    }
    __sync_fetch_and_add(&row->calls, 1);
    __sync_fetch_and_add(&row->weight, call->weight);
    __sync_fetch_and_add(&row->ns, ns);
    if (row->longest < ns)
        row->longest = ns;
    return row;
}

/* Where the map is full, user space sees that calls are missing. */
static __always_inline void add_part(const struct wire_open_call *call, __u32 part, __u64 ns)
{
    struct wire_part_key key = {.time = {.caller = call->caller,
                                         .code = call->code,
                                         .function = call->function,
                                         .bucket = wire_time_bucket(ns)},
                                .part = part};
    struct wire_part_row none = {}, *row = bpf_map_lookup_elem(&part_times, &key);

    if (!row) {
        bpf_map_update_elem(&part_times, &key, &none, BPF_NOEXIST);
        row = bpf_map_lookup_elem(&part_times, &key);
    }
    if (!row)
        return;
    __sync_fetch_and_add(&row->calls, 1);
    __sync_fetch_and_add(&row->weight, call->weight);
    __sync_fetch_and_add(&row->ns, ns);
}

/* Add what the time of a call is made of. What breakpoints add to it was running. */
static __always_inline void add_split(const struct wire_open_call *call,
                                      struct wire_call_split *split, struct wire_time_row *row)
{
    split->running -= split->running < own_time ? split->running : own_time;
    __sync_fetch_and_add(&row->split_calls, 1);
    __sync_fetch_and_add(&row->split.running, split->running);
    __sync_fetch_and_add(&row->split.preempted, split->preempted);
    __sync_fetch_and_add(&row->split.runnable, split->runnable);
    __sync_fetch_and_add(&row->split.waiting, split->waiting);
    __sync_fetch_and_add(&row->split.collecting, split->collecting);
    add_part(call, 0, split->running);
    add_part(call, 1, split->preempted);
    add_part(call, 2, split->runnable);
    add_part(call, 3, split->waiting);
    add_part(call, 4, split->collecting);
}

/* List the call. The caller's frame begins at `top`. `split` is NULL if it is not known. */
static __always_inline void list_slow(const struct wire_open_call *call, __u64 took, __u64 top,
                                      const struct wire_call_frame *frame,
                                      const struct wire_call_split *split,
                                      struct wire_call_counts *sums)
{
    struct wire_slow_call *listed = bpf_ringbuf_reserve(&slow, sizeof(*listed), 0);
    const struct wire_arguments *kept = bpf_map_lookup_elem(&open_arguments, frame);
    __u64 words = frame->depth / sizeof(__u64) - 1;

    if (!listed) {
        sums->unlisted++;
        return;
    }
    if (words > WIRE_SLOW_WORDS)
        words = WIRE_SLOW_WORDS;
    listed->ended = bpf_ktime_get_ns();
    listed->took = took;
    listed->pid = call->pid;
    listed->caller = call->caller;
    listed->function = call->function;
    listed->code = call->code;
    listed->words = words;
    listed->is_split = split != 0;
    if (split)
        listed->split = *split;
    if (bpf_probe_read_user(listed->stack, words * sizeof(__u64), (void *)top))
        listed->words = 0;
    listed->has_arguments =
        kept && !bpf_probe_read_kernel(&listed->arguments, sizeof(listed->arguments), kept);
    bpf_ringbuf_submit(listed, 0);
}

/* The instruction behind a call: the return has taken the address from the stack. Other functions
 * may return here too. */
SEC("perf_event")
int end_call(struct bpf_perf_event_data *context)
{
    __u64 at = PT_REGS_IP(&context->regs), process = jit_process(&context->regs);
    __u64 slot = PT_REGS_SP(&context->regs) - sizeof(__u64), pid = 0, now, took;
    __u32 of_returns = WIRE_CALL_RETURN, of_all = WIRE_CALL_ALL;
    struct wire_call_counts *sums = bpf_map_lookup_elem(&counts, &of_returns);
    struct wire_call_counts *all = bpf_map_lookup_elem(&counts, &of_all);
    struct wire_call_frame frame = {};
    struct wire_open_call *found, call;
    struct wire_call_split split = {};
    struct wire_time_row *row;
    bool is_split = false;
    __u64 *since = bpf_map_lookup_elem(&returns, &at);

    if (!sums || !all)
        return 0;
    sums->calls++;
    all->calls++;
    if (!since || !find_frame(process, slot, &frame))
        return 0;
    found = bpf_map_lookup_elem(&open_calls, &frame);
    if (!found || found->caller != at)
        return 0;
    call = *found; /* user space may remove it meanwhile */
    bpf_map_delete_elem(&open_calls, &frame);
    sums = bpf_map_lookup_elem(&counts, &call.function);
    if (!sums || call.caller != at || call.began < opened || call.began < *since ||
        bpf_probe_read_user(&pid, sizeof(pid), (void *)(process + process_id)))
        return 0;
    if (pid != call.pid) {
        sums->ended++;
        return 0;
    }
    now = bpf_ktime_get_ns();
    took = now - call.began;
    took = took > own_time ? took - own_time : 0;
    row = add_time(&call, took, sums);
    if (row)
        add_words(&call, process, jit_heap_top(&context->regs), row);
    if (split_fields.vm_pid) {
        is_split = end_split(process, frame.depth, &call, now, &split);
        if (!is_split)
            sums->unsplit++;
        /* The calls of the trial measure what this costs. */
        if (row && (is_split || call.function == WIRE_CALL_TRIAL))
            add_split(&call, &split, row);
    }
    if (slow_ns && took >= slow_ns && call.function < WIRE_CALL_FUNCTIONS)
        list_slow(&call, took, slot + sizeof(__u64), &frame, is_split ? &split : 0, sums);
    if (slow_ns && argument_fields.levels)
        bpf_map_delete_elem(&open_arguments, &frame);
    return 0;
}

/* ---- counts ---- */

/* True if the arguments of the call match, or need not. Others are counted here. */
static __always_inline bool is_selected(const struct wire_call_site *site, __u64 registers,
                                        struct wire_call_counts *sums, struct wire_call_counts *all)
{
    enum match_result result = match_call(site->function, registers, site->arity, &all->search_ns);

    if (result == MATCH_UNKNOWN) {
        sums->unchecked++;
        sums->unchecked_weight += weight;
    } else if (result == MATCH_NO) {
        sums->unmatched++;
        sums->unmatched_weight += weight;
    }
    return result == MATCH_YES;
}

/* At an entry in Erlang code, the CPU's stack pointer is the Erlang stack's, and the word there is
 * the return address: of the call, or, if a tail call led here, of the call before it. A BIF is
 * called as f(process, arguments, ...), after the JIT has saved the top of the stack. */
static __always_inline struct call_place place_of(const struct bpf_perf_event_data *context,
                                                  const struct wire_call_site *site)
{
    struct call_place place = {.process = jit_process(&context->regs),
                               .slot = PT_REGS_SP(&context->regs),
                               .arguments = jit_x_registers(&context->regs),
                               .heap_top = jit_heap_top(&context->regs)};

    if (site->is_bif) {
        place.process = PT_REGS_PARM1(&context->regs);
        place.arguments = PT_REGS_PARM2(&context->regs);
        place.slot =
            read_word(&place.slot, place.process + process_stop) ? place.slot + bif_return : 0;
    }
    if (!read_word(&place.pid, place.process + process_id))
        place.pid = 0;
    return place;
}

SEC("perf_event")
int count_call(struct bpf_perf_event_data *context)
{
    __u64 entry = PT_REGS_IP(&context->regs);
    struct wire_call_site *site = bpf_map_lookup_elem(&sites, &entry);
    struct wire_call_key caller = {}, by = {};
    struct wire_call_counts *sums, *all;
    struct arguments_copy *copy = 0;
    __u32 function, of_all = WIRE_CALL_ALL;
    struct call_place place;

    if (!site)
        return 0;
    place = place_of(context, site);
    function = site->function;
    sums = bpf_map_lookup_elem(&counts, &function);
    all = bpf_map_lookup_elem(&counts, &of_all);
    if (!sums || !all)
        return 0;
    all->calls++;
    if (!is_still_there(site, entry)) {
        sums->strangers++;
        return 0;
    }
    if (has_matches && !is_selected(site, place.arguments, sums, all)) {
        if (process_hend)
            skip_call(site, place.process, place.slot, sums);
        return 0;
    }
    sums->calls++;
    sums->weight += weight;
    caller.function = by.function = function;
    caller.code = code;
    if (bpf_probe_read_user(&caller.who, sizeof(caller.who), (void *)place.slot))
        caller.who = 0;
    by.who = place.pid;
    if (by_caller) {
        by.caller = caller.who;
        by.code = code;
    }
    count_in(&callers, &caller);
    count_in(&processes, &by);
    if (argument_fields.levels) {
        copy = copy_arguments(place.arguments, site->arity);
        if (copy)
            count_arguments(copy, function, weight);
    }
    if (process_hend)
        begin_call(site, &place, &caller, copy, sums);
    return 0;
}
