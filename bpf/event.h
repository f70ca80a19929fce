// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Shared by the programs on probes: count each hit, and take a sample with its stacks at some hits.
 *
 * Counting is exact and cheap (tens of ns). A sample costs microseconds. So all totals are counts,
 * and samples only divide the totals among stacks. A hit is chosen for a sample by its size (struct
 * wire_hit). User space sets the period so that samples stay within their budget.
 *
 * Unlike the programs on perf events, these programs can be preempted by others on the same CPU. So
 * counts are atomic, and a program claims its scratch.
 */
#ifndef BEAMFLAME_EVENT_H
#define BEAMFLAME_EVENT_H

#include "sample.h"
#include "vm_constants.h"

struct slots {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_slot);
};
extern struct slots slots SEC(".maps");

struct slot_counts {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_slot_counts);
};
extern struct slot_counts slot_counts SEC(".maps");

struct histograms {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_histogram);
};
extern struct histograms histograms SEC(".maps");

struct run_alarms {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
};
extern struct run_alarms run_alarms SEC(".maps");

/* A hit that a program is handling. */
struct event {
    struct wire_hit hit;
    const struct wire_target *target; /* the VM of the current thread */
    const struct wire_slot *slot;
    struct wire_slot_counts *counts;
    bool faulted; /* memory of the VM could not be read: what follows from it is wrong */
};

static __always_inline void add(__u64 *sum, __u64 value)
{
    if (value)
        __sync_fetch_and_add(sum, value);
}

/* Count a run. */
static __always_inline void count_run(struct event *event)
{
    struct wire_slot_counts *counts = event->counts;
    __u32 alarm = event->slot->alarm, slot = event->hit.slot;

    add(&counts->runs, 1);
    /* If another program on this CPU comes between, this alarm is missing, and the next one comes
     * in time. */
    if (alarm && !(counts->runs & (alarm - 1)))
        bpf_ringbuf_output(&run_alarms, &slot, sizeof(slot), BPF_RB_FORCE_WAKEUP);
}

/* Begin a hit of the probe with this cookie. Return false if hits do not count now, or if the
 * current thread is of no target. */
static __always_inline bool event_begin(struct event *event, __u64 cookie)
{
    __u32 slot = (__u32)cookie;

    event->hit.slot = slot;
    event->target = this_target();
    if (!event->target)
        return false;
    event->slot = bpf_map_lookup_elem(&slots, &slot);
    event->counts = bpf_map_lookup_elem(&slot_counts, &slot);
    if (!event->slot || !event->counts)
        return false;
    count_run(event);
    return event->slot->open;
}

/* True if memory of the VM could not be read. Then the hit is counted as lost. Call it once all is
 * read, before the hit is counted. */
static __always_inline bool event_failed(struct event *event)
{
    if (!event->faulted)
        return false;
    debug_print("memory that a hit of slot %u needs can't be read", event->hit.slot);
    add(&event->counts->lost, 1);
    return true;
}

/* True if `began` lies in this window. If a window ends between entry and return, the probe at the
 * return has no hit, and a later window still finds the note of the entry. */
static __always_inline bool event_is_in_window(const struct event *event, __u64 began)
{
    return began >= event->slot->opened;
}

/* Count the hit. Its size and values must be set. */
static __always_inline void event_count(struct event *event)
{
    struct wire_slot_counts *counts = event->counts;

    add(&counts->hits, 1);
    add(&counts->size, event->hit.size);
    for (int i = 0; i < WIRE_VALUES; i++)
        add(&counts->values[i], event->hit.values[i]);
}

/* Count in the event's n-th tally. */
static __always_inline void event_tally(const struct event *event, __u32 n)
{
    /* Without the barrier, the compiler compares a copy, and the verifiers of 6.1 and older do not
     * see the bound. */
    barrier_var(n);
    if (n < WIRE_TALLIES)
        add(&event->counts->tallies[n], 1);
}

/* Count a number in the event's n-th histogram. */
static __always_inline void event_histogram(const struct event *event, __u32 n, __u64 number)
{
    __u32 key = event->slot->histogram + n;
    struct wire_histogram *histogram = bpf_map_lookup_elem(&histograms, &key);
    __u64 bucket = log_histogram_bucket(number);

    if (!histogram)
        return;
    /* Without the barrier, the compiler masks parts of the bucket apart, and the verifiers of 6.1
     * and older do not see its bound. */
    barrier_var(bucket);
    bucket &= LOG_HISTOGRAM_BUCKETS - 1;
    add(&histogram->buckets[bucket], 1);
    if (number > histogram->max)
        histogram->max = number;
}

static __always_inline bool event_is_chosen(struct event *event)
{
    struct wire_hit *hit = &event->hit;

    hit->period = event->slot->period;
    if (hit->size >= hit->period)
        return hit->size > 0;
    return (bpf_get_prandom_u32() | (__u64)bpf_get_prandom_u32() << 32) % hit->period < hit->size;
}

/* Claim a scratch that no preempted program uses. Return its number, or -1 if there is none. */
static __always_inline int claim_scratch(void)
{
    __u32 first = bpf_get_smp_processor_id() * WIRE_SCRATCHES;

    for (__u32 i = 1; i < WIRE_SCRATCHES; i++) {
        struct scratch *scratch = scratch_at(first + i);

        if (scratch && !__sync_lock_test_and_set(&scratch->busy, 1))
            return first + i;
    }
    return -1;
}

/* Begin the sample of a hit in a scratch. Return the number of the scratch, or -1. */
static __always_inline int event_sample_begin(struct event *event)
{
    int at = claim_scratch();
    struct scratch *scratch = at < 0 ? 0 : scratch_at(at);

    if (!scratch) {
        debug_print("no scratch for a hit of slot %u", event->hit.slot);
        add(&event->counts->lost, 1);
        return -1;
    }
    sample_begin(scratch, (void *)bpf_get_current_task());
    *(struct wire_hit *)scratch->bytes = event->hit;
    sample_add_region(scratch, REGION_HIT, 0, sizeof(event->hit));
    return at;
}

static __always_inline void event_sample_end(struct event *event, int at)
{
    struct scratch *scratch = scratch_at(at);

    sample_fill(at);
    if (!sample_submit(at))
        add(&event->counts->lost, 1);
    if (scratch)
        scratch->busy = 0;
}

/* Take a sample of this hit if it is chosen. The sample is of the current thread with `registers`.
 * If `registers` is NULL, it is of `process` at rest. */
static __always_inline void event_sample(struct event *event, const struct pt_regs *registers,
                                         __u64 process)
{
    struct scratch *scratch;
    int at;

    if (!event_is_chosen(event))
        return;
    at = event_sample_begin(event);
    scratch = at < 0 ? 0 : scratch_at(at);
    if (!scratch)
        return;
    if (registers) {
        sample_registers(scratch, registers);
    } else {
        scratch->sample.flags |= WIRE_AT_REST;
        scratch->sample.process = process;
    }
    event_sample_end(event, at);
}

/* Read a word of the VM's memory. Return 0 and set `faulted` if it can't be read. */
static __always_inline __u64 user_u64(struct event *event, __u64 address)
{
    __u64 value = 0;

    if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
        event->faulted = true;
    return value;
}

static __always_inline __u32 user_u32(struct event *event, __u64 address)
{
    __u32 value = 0;

    if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
        event->faulted = true;
    return value;
}

static __always_inline __u16 user_u16(struct event *event, __u64 address)
{
    __u16 value = 0;

    if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
        event->faulted = true;
    return value;
}

/* The scheduler of the current thread; NULL if the thread is no scheduler. */
static __always_inline const struct wire_thread *this_scheduler(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct wire_thread_key key = {.pid = bpf_get_current_pid_tgid() >> 32};

    key.thread_pointer = thread_pointer_of(task);
    return bpf_map_lookup_elem(&schedulers, &key);
}

/* The Process * that the current scheduler thread runs; 0 if none. */
static __always_inline __u64 current_process(struct event *event)
{
    const struct wire_thread *thread = this_scheduler();

    return thread ? user_u64(event, thread->scheduler + event->target->sched_current_process) : 0;
}

#endif
