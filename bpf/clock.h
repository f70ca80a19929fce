// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Ticks of the sampling clock: how much it counted since the last tick, and the guard against a
 * clock that interrupts too often (include/wire.h). */
#ifndef BEAMFLAME_CLOCK_H
#define BEAMFLAME_CLOCK_H

#include "sample.h"

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_clock);
} clocks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct wire_guard);
} guards SEC(".maps");

/* A tick that the program is handling. */
struct tick {
    struct wire_clock *clock;
    struct wire_guard *guard;
    __u64 now;
    __u64 counted; /* the clock's count that its sample stands for; 0: unknown */
};

static __always_inline void leak(__u64 *level, __u64 amount)
{
    *level -= amount < *level ? amount : *level;
}

/* Stop CPU sampling, and wake the reader, which takes the clock away. */
static __always_inline void guard_stop(struct wire_guard *guard, __u32 reason)
{
    if (guard->reason)
        return;
    guard->cpu = bpf_get_smp_processor_id();
    guard->reason = reason;
    sample_ring_bell();
}

static __always_inline void count_since_last(struct bpf_perf_event_data *ctx, struct tick *tick)
{
    struct bpf_perf_event_value value = {};

    if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
        return;
    if (tick->clock->time)
        tick->counted = value.counter - tick->clock->counted;
    tick->clock->counted = value.counter;
}

/* A sample stands for what the clock counted since the last tick of this CPU. A timer also counts
 * while the CPU idles, and a hypervisor delays the interrupts of an idle CPU. So a late tick counts
 * as one in time, unless the sampled thread has been on the CPU since the last tick. */
static __always_inline void limit_late_tick(struct tick *tick)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    __u64 thread = BPF_CORE_READ(task, pid);
    __u64 switches = BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
    bool stayed = tick->clock->thread == thread && tick->clock->switches == switches;

    tick->clock->thread = thread;
    tick->clock->switches = switches;
    if (tick->guard->counts_ns && !stayed &&
        tick->counted > tick->guard->tick_ns + tick->guard->tick_ns / 2)
        tick->counted = tick->guard->tick_ns;
}

/* Begin a tick. Return false if the guard has stopped CPU sampling. */
static __always_inline bool tick_begin(struct bpf_perf_event_data *ctx, struct tick *tick)
{
    __u32 key = 0;

    tick->clock = bpf_map_lookup_elem(&clocks, &key);
    tick->guard = bpf_map_lookup_elem(&guards, &key);
    tick->counted = 0;
    if (!tick->clock || !tick->guard || tick->guard->reason)
        return false;
    tick->now = bpf_ktime_get_ns();
    count_since_last(ctx, tick);
    limit_late_tick(tick);
    if (tick->clock->time) {
        leak(&tick->clock->ticks_level, tick->now - tick->clock->time);
        leak(&tick->clock->runs_level, (tick->now - tick->clock->time) / WIRE_GUARD_SHARE);
    }
    tick->clock->time = tick->now;
    tick->clock->ticks_level += tick->guard->tick_ns / 2;
    if (tick->clock->ticks_level <=
        WIRE_GUARD_TICKS_NS + tick->guard->tick_ns / 2 * WIRE_GUARD_TICKS)
        return true;
    guard_stop(tick->guard, WIRE_GUARD_STORM);
    return false;
}

/* End a tick that the program has handled. */
static __always_inline void tick_end(const struct tick *tick)
{
    __u64 run = bpf_ktime_get_ns() - tick->now;

    tick->clock->runs_level += run < WIRE_GUARD_RUN_NS ? run : WIRE_GUARD_RUN_NS;
    if (tick->clock->runs_level > WIRE_GUARD_RUNS_NS)
        guard_stop(tick->guard, WIRE_GUARD_SLOW);
}

#endif
