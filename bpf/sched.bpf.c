// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Scheduling: the time from when a process leaves a scheduler until it runs again. Programs are at
 *
 *      erts_schedule(ErtsSchedulerData *, Process *p, int reds)        p leaves
 *                                                    erl_process.c 25.2.3:9458, 27.3.4.1:9506
 *      select_enqueue_run_queue(int how, int, Process *p, ...)         p goes into a run queue,
 *                                                                      unless how is 0
 *                                                    erl_process.c 25.2.3:6536, 27.3.4.1:6550
 *      copy_in_registers(Process *p, Eterm *)            p runs, on a normal scheduler
 *      erts_call_dirty_nif/bif(ErtsSchedulerData *, Process *p, ...)   on a dirty one
 *
 *        leaves        runnable          runs              leaves
 *      ━━━━┥ waiting       │ in the queue  ┝━━━━ slice ━━━━━━━┥
 *          │←── wait ──────┼── delay ─────→│
 *
 * The VM may run a process only for the VM's own tasks (signals, for example), and not its code.
 * The process then leaves again within erts_schedule(). That is a hit of the run queue, but not of
 * erts_schedule(), and the process counts as waiting meanwhile.
 *
 * Windows cut intervals. An interval that the end of a window cuts is not seen. An interval that
 * began before its window is known from its end, and the part within the window counts (enum
 * wire_open says with which weight). So sums are right on average for intervals shorter than a
 * window. A longer one counts as one window long.
 */
#include "event.h"

enum {
    STATE_RUNS = ERTS_PSFLG_RUNNING | ERTS_PSFLG_RUNNING_SYS | ERTS_PSFLG_DIRTY_RUNNING |
                 ERTS_PSFLG_DIRTY_RUNNING_SYS,
    STATE_GOES_DIRTY =
        ERTS_PSFLG_DIRTY_CPU_PROC | ERTS_PSFLG_DIRTY_IO_PROC | ERTS_PSFLG_DIRTY_ACTIVE_SYS,
};

/* Samples are chosen by time off. This is added to the size of each hit, so that short times off
 * get samples too: they show how often each process was off. */
enum { SIZE_MIN = 10000 }; /* ns */

/* The state of a process: on a scheduler or off, and since when. */
struct turn {
    __u64 pid; /* pid term; the struct may belong to another process by now */
    __u64 since;
    __u64 runnable;  /* ns, when it became runnable; 0: it is not */
    __u64 waker;     /* pid term of the process that made it runnable; 0: none did */
    __u64 scheduler; /* the normal one that it ran on last; 0: unknown */
    __u32 window;
    __s32 reds;    /* reductions that it may use */
    __u64 sampled; /* ns, until when its long slice has been sampled; 0: not yet */
    __u8 on;
    __u8 left; /* why it left, enum wire_sched_kind */
    __u8 unused[6];
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct wire_process_key);
    __type(value, struct turn);
} turns SEC(".maps");

/* The last window of a slot in which there was no room for another process. A process that is not
 * known in that window may have been seen in it. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, __u32);
    __type(value, __u32);
} overflows SEC(".maps");

/* The process and the thread of a hit. */
struct place {
    struct event event;
    const struct wire_thread *thread; /* NULL: not a scheduler */
    struct wire_process_key key;
    struct turn *turn; /* NULL: nothing is known */
    __u64 pid;         /* term */
    __u64 now;
};

static __always_inline bool is_dirty(const struct place *at)
{
    return at->thread && at->thread->type != ERTS_SCHED_NORMAL;
}

static __always_inline bool arrive(struct place *at, __u64 cookie)
{
    if (!event_begin(&at->event, cookie))
        return false;
    at->now = bpf_ktime_get_ns();
    at->thread = this_scheduler();
    return true;
}

/* Find the turn of the process. False if there is no process, or if it can't be read. */
static __always_inline bool meet(struct place *at, __u64 process)
{
    if (event_failed(&at->event) || !process)
        return false;
    at->key.process = process;
    at->key.pid = bpf_get_current_pid_tgid() >> 32;
    at->pid = user_u64(&at->event, process + at->event.target->process_id);
    at->turn = bpf_map_lookup_elem(&turns, &at->key);
    if (at->turn && (at->turn->window != at->event.slot->window || at->turn->pid != at->pid))
        at->turn = 0;
    return !event_failed(&at->event);
}

/* Note the new turn of the process. */
static __always_inline void begin_turn(struct place *at, struct turn *turn)
{
    turn->pid = at->pid;
    turn->window = at->event.slot->window;
    if (at->turn) {
        *at->turn = *turn;
    } else if (bpf_map_update_elem(&turns, &at->key, turn, BPF_ANY)) {
        debug_print("no room for process %llx", at->key.process);
        bpf_map_update_elem(&overflows, &at->event.hit.slot, &turn->window, BPF_ANY);
        event_tally(&at->event, WIRE_SCHED_NO_ROOM);
    }
}

/* Note that a process runs, but a part of it could not be read: its next turn is not measured. */
static __always_inline void lose_turn(struct place *at, struct turn *turn)
{
    *turn = (struct turn){.on = 1, .since = at->now};
    begin_turn(at, turn);
}

static __always_inline bool has_overflown(const struct place *at)
{
    const __u32 *window = bpf_map_lookup_elem(&overflows, &at->event.hit.slot);

    return window && *window == at->event.slot->window;
}

/* ---- leaving ---- */

/* True if the process has used its reductions. Where a BIF made it yield, the process is charged
 * with more reductions than it has used: the rest is virtual (ERTS_VBUMP_ALL_REDS, bif.h
 * 25.2.3:210). */
static __always_inline bool has_used_up(struct place *at, __s32 reds)
{
    if (at->thread &&
        user_u32(&at->event, at->thread->scheduler + at->event.target->sched_virtual_reds))
        return false;
    return at->turn && at->turn->on && reds >= at->turn->reds;
}

static __always_inline __u8 why_it_leaves(struct place *at, __u32 state, __s32 reds)
{
    if (state & ERTS_PSFLG_EXITING)
        return WIRE_SCHED_EXITING;
    if (is_dirty(at) || (state & STATE_GOES_DIRTY))
        return WIRE_SCHED_DIRTY;
    if (state & ERTS_PSFLG_SUSPENDED)
        return WIRE_SCHED_SUSPENDED;
    if (!(state & ERTS_PSFLG_ACTIVE))
        return WIRE_SCHED_WAITING;
    return has_used_up(at, reds) ? WIRE_SCHED_REDUCTIONS : WIRE_SCHED_YIELDED;
}

/* True if the slice is long. The hit then covers the part of the slice that was not sampled before.
 * It always gets a sample, which stands only for itself. */
static __always_inline bool is_long(struct place *at, __u32 kind)
{
    __u64 since = at->turn->since, sampled = at->turn->sampled, from = sampled ? sampled : since;
    struct wire_hit *hit = &at->event.hit;

    if (is_dirty(at) || at->now - since < at->event.slot->long_us * 1000ull)
        return false;
    hit->kind = kind;
    /* A tick may come while a hit is handled, and may have sampled up to a later time. */
    hit->values[3] = at->now > from ? at->now - from : 0;
    hit->size = ~0ull;
    at->turn->sampled = at->now;
    return true;
}

static __always_inline void end_slice(struct place *at, __u8 left)
{
    __u64 slice = at->now - at->turn->since;

    event_histogram(&at->event, is_dirty(at) ? WIRE_SCHED_DIRTY_SLICES : WIRE_SCHED_SLICES, slice);
    if (!is_long(at, WIRE_SCHED_LONG_END + left))
        return;
    add(&at->event.counts->values[3], slice);
    event_sample(&at->event, 0, at->key.process);
}

/* The process leaves a dirty scheduler that ran it only for a task of the VM, such as its garbage
 * collection. The process still has not run. */
static __always_inline void waits_on(struct place *at, __u32 state)
{
    bool has_to_run = (state & ERTS_PSFLG_ACTIVE) && !(state & ERTS_PSFLG_SUSPENDED);

    at->turn->runnable = has_to_run ? at->now : 0;
}

SEC("uprobe")
int sched_out(struct pt_regs *ctx)
{
    struct place at = {};
    struct turn turn = {};
    __u32 state;

    if (!arrive(&at, bpf_get_attach_cookie(ctx)) || !meet(&at, PT_REGS_PARM2(ctx)))
        return 0;
    state = user_u32(&at.event, at.key.process + at.event.target->process_state);
    turn.left = why_it_leaves(&at, state, PT_REGS_PARM3(ctx));
    if (event_failed(&at.event)) {
        lose_turn(&at, &turn);
        return 0;
    }
    if (at.turn && !at.turn->on && is_dirty(&at) && !(state & ERTS_PSFLG_FREE)) {
        waits_on(&at, state);
        return 0;
    }
    if (at.turn && at.turn->on)
        end_slice(&at, turn.left);
    else if (at.turn)
        event_tally(&at.event, WIRE_SCHED_UNSEEN);
    if (state & ERTS_PSFLG_FREE) {
        bpf_map_delete_elem(&turns, &at.key);
        return 0;
    }
    turn.since = at.now;
    if (turn.left != WIRE_SCHED_WAITING && turn.left != WIRE_SCHED_SUSPENDED)
        turn.runnable = at.now;
    if (!is_dirty(&at) && at.thread)
        turn.scheduler = at.thread->scheduler;
    else if (at.turn)
        turn.scheduler = at.turn->scheduler;
    begin_turn(&at, &turn);
    return 0;
}

/* ---- becoming runnable ---- */

/* The pid term of the process that this thread runs; 0 if none. */
static __always_inline __u64 this_waker(struct place *at)
{
    __u64 process = 0;

    if (at->thread)
        process =
            user_u64(&at->event, at->thread->scheduler + at->event.target->sched_current_process);
    return process ? user_u64(&at->event, process + at->event.target->process_id) : 0;
}

static __always_inline bool is_new(struct place *at)
{
    return user_u32(&at->event, at->key.process + at->event.target->process_reds) == 0;
}

/* Note a process that is not known: it is new, or has been off since before the window began. */
static __always_inline void first_seen(struct place *at)
{
    struct turn turn = {.runnable = at->now, .since = at->event.slot->opened};

    turn.waker = this_waker(at);
    turn.left = WIRE_SCHED_UNKNOWN;
    if (is_new(at)) {
        turn.left = WIRE_SCHED_NEW;
        turn.since = at->now;
    }
    if (at->event.faulted)
        lose_turn(at, &turn);
    else
        begin_turn(at, &turn);
}

static __always_inline bool is_leaving(struct place *at)
{
    return at->thread &&
           user_u64(&at->event, at->thread->scheduler + at->event.target->sched_current_process) ==
               at->key.process;
}

static __always_inline void is_runnable(struct place *at)
{
    at->turn->runnable = at->now;
    at->turn->waker = this_waker(at);
}

/* The process goes into a run queue. `again`: it is certain that it was in none. If it is noted as
 * runnable nevertheless, it was suspended and taken out of its queue without having run. */
static __always_inline void enters_queue(struct place *at, bool again)
{
    struct turn *turn = at->turn;
    bool leaves = is_leaving(at);

    if (at->event.faulted)
        return;
    if (!turn && !leaves)
        first_seen(at);
    if (!turn || turn->on)
        return;
    if (leaves && !turn->runnable)
        turn->runnable = at->now;
    else if (!leaves && (again || !turn->runnable))
        is_runnable(at);
}

/* The process does not go into a run queue: it is in one already, or can't be, or has nothing to
 * do. It may also be leaving a scheduler just now. If it was woken before that, it then goes into a
 * queue without another call. */
static __always_inline void stays_out_of_queue(struct place *at)
{
    __u32 state;
    bool leaves;

    if (!at->turn || at->turn->on)
        return;
    state = user_u32(&at->event, at->key.process + at->event.target->process_state);
    leaves = is_leaving(at);
    if (at->event.faulted)
        return;
    if (leaves) {
        if (!(state & (STATE_RUNS | ERTS_PSFLG_IN_RUNQ)))
            at->turn->runnable = 0;
    } else if ((state & STATE_RUNS) && !at->turn->runnable) {
        is_runnable(at);
    }
}

SEC("uprobe")
int sched_enqueue(struct pt_regs *ctx)
{
    __s32 how =
        PT_REGS_PARM1(ctx); /* below 0: by a proxy, maybe into a second queue (ERTS_ENQUEUE_*) */
    struct place at = {};

    if (!arrive(&at, bpf_get_attach_cookie(ctx)) || !meet(&at, PT_REGS_PARM3(ctx)))
        return 0;
    if (how)
        enters_queue(&at, how > 0);
    else
        stays_out_of_queue(&at);
    event_failed(&at.event);
    return 0;
}

/* At erts_schedule_process(Process *, ...), where select_enqueue_run_queue() is not found. It sees
 * only some of the processes that become runnable. */
SEC("uprobe")
int sched_wake(struct pt_regs *ctx)
{
    struct place at = {};

    if (!arrive(&at, bpf_get_attach_cookie(ctx)) || !meet(&at, PT_REGS_PARM1(ctx)))
        return 0;
    enters_queue(&at, false);
    event_failed(&at.event);
    return 0;
}

/* ---- running ---- */

/* The weighted time of a part of the time off. `is_cut`: the start of the window cut it. */
static __always_inline __u64 weighed(const struct place *at, __u64 ns, bool is_cut)
{
    return is_cut ? ns * at->event.slot->open : ns;
}

/* Measure a process of which this window has seen nothing. Where all ways into a run queue are
 * probed, the process was in a queue before the window. Elsewhere it may be new, and it is unknown
 * since when it is runnable. */
static __always_inline void measure_unknown(struct place *at, bool sees_queues)
{
    struct wire_hit *hit = &at->event.hit;
    __u64 off = at->now - at->event.slot->opened;
    bool starts = !sees_queues && is_new(at);

    hit->kind = starts ? WIRE_SCHED_NEW : WIRE_SCHED_UNKNOWN;
    if (!starts)
        hit->values[0] = weighed(at, off, true);
    if (sees_queues)
        hit->values[1] = hit->values[0];
    else
        event_tally(&at->event, WIRE_SCHED_NO_DELAY);
}

static __always_inline void measure(struct place *at)
{
    const struct turn *turn = at->turn;
    __u64 runnable = turn->runnable ? turn->runnable : at->now, delay = at->now - runnable;
    struct wire_hit *hit = &at->event.hit;

    hit->kind = turn->left;
    hit->peer = turn->waker;
    hit->values[0] = weighed(at, runnable - turn->since, turn->left == WIRE_SCHED_UNKNOWN) + delay;
    hit->values[1] = delay;
    if (turn->runnable)
        event_histogram(&at->event, is_dirty(at) ? WIRE_SCHED_DIRTY_DELAYS : WIRE_SCHED_DELAYS,
                        delay);
    else
        event_tally(&at->event, WIRE_SCHED_NO_DELAY);
    if (turn->left == WIRE_SCHED_WAITING)
        event_histogram(&at->event, WIRE_SCHED_WAITS, runnable - turn->since);
}

static __always_inline void begin_slice(struct place *at, __u32 reds)
{
    struct turn turn = {.on = 1, .reds = reds, .since = at->now};

    if (at->turn)
        turn.scheduler = at->turn->scheduler;
    if (!is_dirty(at) && at->thread) {
        if (turn.scheduler && turn.scheduler != at->thread->scheduler)
            event_tally(&at->event, WIRE_SCHED_MIGRATED);
        turn.scheduler = at->thread->scheduler;
    }
    begin_turn(at, &turn);
}

static __always_inline bool is_measured(struct place *at, bool sees_queues)
{
    if (at->turn && !at->turn->on)
        measure(at);
    else if (!at->turn && !has_overflown(at))
        measure_unknown(at, sees_queues);
    else
        return false;
    return true;
}

static __always_inline int run(__u64 cookie, __u64 process)
{
    struct place at = {};
    struct wire_hit *hit = &at.event.hit;
    bool measured;
    __u32 reds;

    if (!arrive(&at, cookie) || !meet(&at, process))
        return 0;
    reds = user_u32(&at.event, process + at.event.target->process_fcalls);
    if (event_failed(&at.event)) {
        bpf_map_delete_elem(&turns, &at.key);
        return 0;
    }
    measured = is_measured(&at, cookie >> 32);
    begin_slice(&at, reds);
    if (event_failed(&at.event))
        return 0;
    event_tally(&at.event, measured ? hit->kind : WIRE_SCHED_UNSEEN);
    if (!measured)
        return 0;
    hit->values[2] = 1;
    hit->size = hit->values[0] + SIZE_MIN;
    event_count(&at.event);
    event_sample(&at.event, 0, process);
    return 0;
}

/* The JIT keeps the process in a register. So the probe can be anywhere in the
 * first instructions of copy_in_registers(). */
SEC("uprobe")
int sched_in(struct pt_regs *ctx)
{
    return run(bpf_get_attach_cookie(ctx), jit_process(ctx));
}

SEC("uprobe")
int sched_in_dirty(struct pt_regs *ctx)
{
    return run(bpf_get_attach_cookie(ctx), PT_REGS_PARM2(ctx));
}

/* ---- long slices, sampled while they run ---- */

/* The slot of the event `sched`, by the VM's pid. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, __u32);
} ticking SEC(".maps");

/* Runs now and then on each CPU. A process that has been running for long is sampled where it is,
 * and not only where it resumes after it has left. */
SEC("perf_event")
int sched_tick(void *ctx)
{
    __u32 pid = bpf_get_current_pid_tgid() >> 32, *slot = bpf_map_lookup_elem(&ticking, &pid);
    struct place at = {};
    int scratch_number;
    struct scratch *scratch;

    (void)ctx;
    if (!slot || !arrive(&at, *slot) || !meet(&at, current_process(&at.event)) || !at.turn ||
        !at.turn->on || !is_long(&at, WIRE_SCHED_LONG))
        return 0;
    scratch_number = event_sample_begin(&at.event);
    scratch = scratch_number < 0 ? 0 : scratch_at(scratch_number);
    if (!scratch)
        return 0;
    user_registers(scratch, (void *)bpf_get_current_task());
    event_sample_end(&at.event, scratch_number);
    return 0;
}
