/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the time of a call is made of. While a process has a call whose return is awaited, probes on
 * the VM's functions that schedule and collect note what it does:
 *
 *      erts_schedule(ErtsSchedulerData * or 0, Process *p, ...)   p leaves its scheduler
 *      select_enqueue_run_queue(int how, int, Process *p, ...)    p becomes runnable, unless how
 *                                                                 is 0
 *      copy_in_registers(Process *p, Eterm *)                     p runs, on a normal scheduler
 *      erts_call_dirty_nif/bif(ErtsSchedulerData *, Process *p)   p runs, on a dirty one
 *      garbage_collect(Process *p, ...), and its return           p collects, as it does in
 *      erts_garbage_collect_hibernate(Process *p), and its return
 *
 * The programs see the hits of all processes, and do nothing for those that have no such call. The
 * rules are those of bpf/sched.bpf.c: what the functions say of a process that is leaving is
 * explained there. A call begins and returns on a scheduler. Each hit adds the time since the one
 * before to one sum, so that the sums of a call are its time. A hit that does not fit what is known
 * of its process (a hit was lost, or two threads had one of it at once) makes the sums wrong, which
 * is noted.
 */
#ifndef BEAMFLAME_CALL_SPLIT_H
#define BEAMFLAME_CALL_SPLIT_H

#include "registers.h"
#include "vm_constants.h"
#include "wire_calls.h"

enum process_state { PROCESS_RUNS, PROCESS_IS_RUNNABLE, PROCESS_WAITS };

enum {
    SPLIT_STATE_RUNS = ERTS_PSFLG_RUNNING | ERTS_PSFLG_RUNNING_SYS | ERTS_PSFLG_DIRTY_RUNNING |
                       ERTS_PSFLG_DIRTY_RUNNING_SYS,
    SPLIT_STATE_GOES_DIRTY =
        ERTS_PSFLG_DIRTY_CPU_PROC | ERTS_PSFLG_DIRTY_IO_PROC | ERTS_PSFLG_DIRTY_ACTIVE_SYS,
    SPLIT_ROUNDING = 1000, /* ns by which the sums of a call may differ from its time */
};

const volatile struct wire_split_fields split_fields;

/* Since when the probes are attached, ns; 0: they are not. */
__u64 split_since;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_ENTRIES);
    __type(key, __u64); /* Process * */
    __type(value, struct wire_process_time);
} process_times SEC(".maps");

/* The process that a thread collects for. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __u64); /* thread */
    __type(value, __u64);
} collecting SEC(".maps");

/* Schedulers by what pthread_self() returns in their threads. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_SCHEDULERS);
    __type(key, __u64);
    __type(value, __u64); /* ErtsSchedulerData * */
} split_schedulers SEC(".maps");

/* ns that this thread has waited for a CPU. It grows only while the thread does not run. */
static __always_inline __u64 thread_delay(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();

    return BPF_CORE_READ(task, sched_info.run_delay);
}

static __always_inline bool is_on_scheduler(const struct wire_process_time *time)
{
    return time->state == PROCESS_RUNS || time->collects;
}

/* Add the time since the last hit to the sum of what the process did. The thread is the one that
 * the process is on, if it is on one. */
static __always_inline void add_elapsed(struct wire_process_time *time, __u64 now)
{
    __u64 elapsed = now > time->since ? now - time->since : 0;

    if (is_on_scheduler(time)) {
        __u64 delay = thread_delay(), delayed = delay - time->delayed;

        time->delayed = delay;
        if (delayed > elapsed)
            delayed = elapsed;
        time->sums.preempted += delayed;
        time->sums.running += elapsed - delayed;
        if (time->collects)
            time->sums.collecting += elapsed - delayed;
    } else if (time->state == PROCESS_IS_RUNNABLE) {
        time->sums.runnable += elapsed;
    } else {
        time->sums.waiting += elapsed;
    }
    time->since += elapsed;
}

static __always_inline void change_state(struct wire_process_time *time, __u32 state)
{
    /* A thread that wakes a process is not the one that collects for it. */
    if (!time->collects)
        add_elapsed(time, bpf_ktime_get_ns());
    time->state = state;
}

/* ---- calls ---- */

/* Begin the time of a process, with a call that begins. Not inlined: the caller's stack is small.
 */
static __noinline bool begin_time(__u64 process, __u64 pid, __u64 depth, __u64 now)
{
    struct wire_process_time time = {};

    time.began = time.since = now;
    time.pid = pid;
    time.depth = depth;
    time.delayed = thread_delay();
    time.state = PROCESS_RUNS;
    return !bpf_map_update_elem(&process_times, &process, &time, BPF_ANY);
}

/* Note what the process has done until a call of it begins. */
static __always_inline void begin_split(__u64 process, __u64 depth, struct wire_open_call *call)
{
    struct wire_process_time *time;

    if (!split_fields.vm_pid || !split_since)
        return;
    time = bpf_map_lookup_elem(&process_times, &process);
    if (time && time->pid == call->pid && time->began >= split_since && !time->is_wrong &&
        time->state == PROCESS_RUNS) {
        add_elapsed(time, call->began);
        if (time->depth > depth)
            time->depth = depth;
        call->split = time->sums;
        call->split_began = time->began;
    } else if (begin_time(process, call->pid, depth, call->began)) {
        call->split_began = call->began;
    }
}

static __always_inline void subtract_split(struct wire_call_split *sums,
                                           const struct wire_call_split *before)
{
    sums->running -= before->running;
    sums->preempted -= before->preempted;
    sums->runnable -= before->runnable;
    sums->waiting -= before->waiting;
    sums->collecting -= before->collecting;
}

/* The call returns at `now`. Set what its process has done since it began. False if that is not
 * known. */
static __always_inline bool end_split(__u64 process, __u64 depth, const struct wire_open_call *call,
                                      __u64 now, struct wire_call_split *split)
{
    struct wire_process_time *time = bpf_map_lookup_elem(&process_times, &process);
    __u64 sum, took = now - call->began;
    bool is_known;

    if (!time || time->pid != call->pid)
        return false;
    is_known = call->split_began && time->began == call->split_began && !time->is_wrong &&
               time->state == PROCESS_RUNS && !time->collects;
    if (is_known) {
        add_elapsed(time, now);
        *split = time->sums;
        subtract_split(split, &call->split);
        sum = split->running + split->preempted + split->runnable + split->waiting;
        is_known = sum <= took + SPLIT_ROUNDING && took <= sum + SPLIT_ROUNDING;
    }
    if (depth <= time->depth)
        bpf_map_delete_elem(&process_times, &process);
    return is_known;
}

/* ---- probes ---- */

/* Count a hit, and find the time of the process; NULL if it has no call. */
static __always_inline struct wire_process_time *time_at_hit(__u64 process)
{
    __u32 of_split = WIRE_CALL_SPLIT;
    struct wire_call_counts *hits = bpf_map_lookup_elem(&counts, &of_split);

    if (hits)
        __sync_fetch_and_add(&hits->calls, 1);
    if (bpf_get_current_pid_tgid() >> 32 != split_fields.vm_pid)
        return 0;
    return bpf_map_lookup_elem(&process_times, &process);
}

static __always_inline bool read_state(__u64 process, __u32 *state)
{
    return !bpf_probe_read_user(state, sizeof(*state), (void *)(process + split_fields.state));
}

static __always_inline __u32 state_after(__u32 state, bool is_dirty)
{
    if ((state & ERTS_PSFLG_EXITING) || is_dirty || (state & SPLIT_STATE_GOES_DIRTY))
        return PROCESS_IS_RUNNABLE;
    return (state & ERTS_PSFLG_ACTIVE) && !(state & ERTS_PSFLG_SUSPENDED) ? PROCESS_IS_RUNNABLE
                                                                          : PROCESS_WAITS;
}

/* A dirty scheduler may have run the process only for a task of the VM, such as its collection. */
static __always_inline void leave(struct wire_process_time *time, __u32 state, bool is_dirty)
{
    if (time->collects || (time->state != PROCESS_RUNS && !is_dirty))
        time->is_wrong = 1;
    else if (time->state == PROCESS_RUNS)
        change_state(time, state_after(state, is_dirty));
    else
        change_state(time, state_after(state, false));
}

SEC("uprobe")
int split_out(struct pt_regs *ctx)
{
    __u64 process = PT_REGS_PARM2(ctx);
    bool is_dirty = PT_REGS_PARM1(ctx) != 0;
    struct wire_process_time *time = time_at_hit(process);
    __u32 state;

    if (!time)
        return 0;
    if (!read_state(process, &state))
        time->is_wrong = 1;
    else if (state & ERTS_PSFLG_FREE)
        bpf_map_delete_elem(&process_times, &process);
    else
        leave(time, state, is_dirty);
    return 0;
}

/* True if this thread is about to put the process off its scheduler. */
static __always_inline bool is_leaving(__u64 process)
{
    __u64 thread = thread_pointer_of((void *)bpf_get_current_task()), current = 0;
    const __u64 *scheduler = bpf_map_lookup_elem(&split_schedulers, &thread);

    return scheduler &&
           !bpf_probe_read_user(&current, sizeof(current),
                                (void *)(*scheduler + split_fields.current)) &&
           current == process;
}

/* `again`: it is certain that the process was in no run queue. If it was thought to be in one, it
 * has been waiting since. */
static __always_inline void enters_queue(struct wire_process_time *time, bool leaves, bool again)
{
    if (!leaves && again)
        time->state = PROCESS_WAITS;
    if (time->state == PROCESS_WAITS)
        change_state(time, PROCESS_IS_RUNNABLE);
}

static __always_inline void stays_out_of_queue(struct wire_process_time *time, __u32 state,
                                               bool leaves)
{
    if (leaves && time->state == PROCESS_IS_RUNNABLE &&
        !(state & (SPLIT_STATE_RUNS | ERTS_PSFLG_IN_RUNQ)))
        time->state = PROCESS_WAITS; /* it was not in the queue after all */
    else if (!leaves && time->state == PROCESS_WAITS && (state & SPLIT_STATE_RUNS))
        change_state(time, PROCESS_IS_RUNNABLE);
}

SEC("uprobe")
int split_enqueue(struct pt_regs *ctx)
{
    __s32 how = PT_REGS_PARM1(ctx); /* below 0: by a proxy, maybe into a second queue */
    __u64 process = PT_REGS_PARM3(ctx);
    struct wire_process_time *time = time_at_hit(process);
    __u32 state;
    bool leaves;

    if (!time || time->state == PROCESS_RUNS)
        return 0;
    leaves = is_leaving(process);
    if (how)
        enters_queue(time, leaves, how > 0);
    else if (read_state(process, &state))
        stays_out_of_queue(time, state, leaves);
    else
        time->is_wrong = 1;
    return 0;
}

static __always_inline int run(__u64 process)
{
    struct wire_process_time *time = time_at_hit(process);

    if (!time)
        return 0;
    if (time->state == PROCESS_RUNS || time->collects) {
        time->is_wrong = 1;
        return 0;
    }
    change_state(time, PROCESS_RUNS);
    time->delayed = thread_delay();
    return 0;
}

SEC("uprobe")
int split_in(struct pt_regs *ctx)
{
    return run(jit_process(ctx));
}

SEC("uprobe")
int split_in_dirty(struct pt_regs *ctx)
{
    return run(PT_REGS_PARM2(ctx));
}

SEC("uprobe")
int split_collect(struct pt_regs *ctx)
{
    __u64 process = PT_REGS_PARM1(ctx), thread = bpf_get_current_pid_tgid();
    struct wire_process_time *time = time_at_hit(process);

    if (!time)
        return 0;
    if (time->collects || bpf_map_update_elem(&collecting, &thread, &process, BPF_ANY)) {
        time->is_wrong = 1;
        return 0;
    }
    add_elapsed(time, bpf_ktime_get_ns());
    time->delayed = thread_delay();
    time->collects = 1;
    return 0;
}

SEC("uprobe")
int split_collected(struct pt_regs *ctx)
{
    __u64 thread = bpf_get_current_pid_tgid();
    __u64 *process = bpf_map_lookup_elem(&collecting, &thread);
    struct wire_process_time *time = time_at_hit(process ? *process : 0);

    (void)ctx;
    if (process)
        bpf_map_delete_elem(&collecting, &thread);
    if (!time || !time->collects)
        return 0;
    add_elapsed(time, bpf_ktime_get_ns());
    time->collects = 0;
    return 0;
}

#endif
