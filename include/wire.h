/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * What the kernel side hands to the user side.
 *
 * A sample is a small core dump of one thread at one moment: its registers, the kernel stack, and
 * a few segments of its memory. The kernel side copies, it does not interpret; the user side reads
 * words out of the segments as if they were the target's memory at that moment.
 *
 *   struct wire_sample │ kernel addresses (u64 each) │ bytes of segment 0 │ bytes of segment 1 ...
 *
 * Fixed little-endian layout, same on both sides; sizes are asserted below.
 */
#ifndef BEAMFLAME_WIRE_H
#define BEAMFLAME_WIRE_H

#include "log_histogram.h"

enum wire_limits {
    WIRE_SEGMENTS = 16,
    WIRE_KERNEL_DEPTH = 64,
    WIRE_WORDS = 38,                /* of a struct */
    WIRE_SCHEDULER_BYTES = 256,     /* head of ErtsSchedulerData: all fields that matter */
    WIRE_PROCESS_BYTES = 1024,      /* at most; struct process is 736..792 bytes */
    WIRE_C_STACK_BYTES = 8192,      /* native stack, from the stack pointer up */
    WIRE_C_ROOT_BYTES = 4096,       /* native stack next to the JIT's frame, if deeper than that */
    WIRE_ERLANG_LEAF_BYTES = 16384, /* Erlang stack, from its top */
    WIRE_ERLANG_ROOT_BYTES = 1024,  /* Erlang stack, bottom part of one that is deeper */
    WIRE_ERLANG_BELOW_BYTES = 4096, /* just below Process.stop, where the true top may be */
    WIRE_ERLANG_FAR_BYTES = 8192,   /* around a top that lies further below */
    WIRE_MFA_BYTES = 24,
    WIRE_SCAN_WORDS = 64, /* native stack words searched for that top */
    WIRE_RETURNS = 4,     /* return addresses that uretprobes have replaced */
    WIRE_SCRATCHES = 3,   /* samples in the making, a CPU: one in interrupts, others preempted */
    WIRE_TALLIES = 25,
    WIRE_VALUES = 6, /* measured at a hit of a probe */
};

enum wire_segment_kind {
    SEGMENT_SCHEDULER = 1,   /* ErtsSchedulerData: made of the words, see symbol/snapshot.h */
    SEGMENT_PROCESS,         /* Process: the same */
    SEGMENT_NATIVE,          /* native stack */
    SEGMENT_ERLANG,          /* Erlang stack */
    SEGMENT_SLEEP_INFO,      /* ErtsSchedulerSleepInfo */
    SEGMENT_MFA,             /* ErtsCodeMFA at Process.current: three words */
    SEGMENT_RETURN,          /* true return address of the stack slot at segment.address */
    SEGMENT_HIT,             /* struct wire_hit: the sample is of a probe, not of the CPU */
    SEGMENT_SCHEDULER_WORDS, /* wire_target.scheduler_words of ErtsSchedulerData */
    SEGMENT_PROCESS_WORDS,   /* wire_target.process_words of Process */
    SEGMENT_TICK,            /* u64: what the clock counted that the sample stands for */
};

/* The words of a struct that samples have: their offsets in it, ascending multiples of 8. */
struct wire_words {
    __u32 count;
    __u16 offsets[WIRE_WORDS];
};

struct wire_segment {
    __u64 address; /* in the target */
    __u32 size;    /* bytes that follow, in the order of the segments */
    __u32 kind;    /* enum wire_segment_kind */
};

enum wire_flag {
    WIRE_IN_KERNEL = 1 << 0, /* the sample hit kernel code; registers are those of user code */
    WIRE_REGISTERS = 1 << 1, /* registers hold (a kernel thread has none) */
    WIRE_KERNEL_STACK_CUT = 1 << 2, /* kernel stack deeper than WIRE_KERNEL_DEPTH, or unavailable */
    WIRE_AT_REST = 1 << 3, /* the process does not run: its stack begins at Process.stop, and what
                            * it would do next is Process.i */
    WIRE_WAITS = 1 << 4,   /* the thread waits in the kernel: of the registers rsp and rip hold */
    WIRE_ENTRY = 1 << 5,   /* an NMI hit the entry to the kernel before it had saved the registers
                            * of user code: these are not known, nor is the stack */
};

/* User registers at the sample, in DWARF order (System V ABI x86-64, figure 3.36). */
struct wire_registers {
    __u64 value[17]; /* rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
};

struct wire_sample {
    __u64 time;            /* ns, CLOCK_MONOTONIC */
    __u64 code_generation; /* word at target.code_generation_address, 0 if not read */
    __u64 scheduler;       /* ErtsSchedulerData * of the thread, 0 if it is no scheduler */
    __u64 process;         /* Process * it runs, 0 if none */
    struct wire_registers registers;
    __u32 pid, tid; /* in the initial pid namespace */
    __u32 cpu;
    __u32 flags;        /* enum wire_flag */
    __u32 kernel_depth; /* addresses that follow */
    __u32 segment_count;
    char thread_name[16];
    struct wire_segment segments[WIRE_SEGMENTS];
};

/* What the kernel side must know of a VM: hash map `targets`, key: pid (u32). */
struct wire_target {
    __u64 code_generation_address; /* 0: do not read */
    struct wire_words process_words, scheduler_words;
    __u16 process_htop, process_stop, process_heap, process_hend;       /* offsets in Process */
    __u16 scheduler_registers, scheduler_process, scheduler_sleep_info; /* in ErtsSchedulerData */
    __u16 process_current;                                              /* in Process */
    __u16 process_id, process_state, process_flags, process_mbuf_sz;
    __u16 process_high_water, process_old_heap, process_old_htop;
    __u16 process_gen_gcs, process_off_heap_overhead, process_msgq_save;
    __u16 process_abandoned_heap, process_bin_old_vheap;
    __u16 saved_top; /* the register that holds the Erlang stack's top where stop does not */
    __u16 process_fcalls, process_reds;
    __u16 scheduler_virtual_reds;   /* in ErtsSchedulerData */
    __u16 message_m, message_hfrag; /* in ErtsMessage */
    __u16 heap_fragment_mem;        /* in ErlHeapFragment */
    __u16 alias_message; /* which word of the tuple that goes with a message to an alias it is */
};

/* A scheduler thread: hash map `schedulers`. User threads are told apart by their thread pointer
 * (fs base), which pthread_self() returns and ErtsSchedulerData.tid holds. */
struct wire_thread_key {
    __u64 thread_pointer;
    __u32 pid;
    __u32 unused;
};

struct wire_thread {
    __u64 scheduler; /* ErtsSchedulerData * */
    __u32 type;      /* enum ErtsSchedulerType */
    __u32 unused;
};

/* ---- probes ---- */

/* What was seen at a hit of a probe, as a segment of the sample that was taken there. Of all hits
 * that count, a sample is taken of those whose `size` is `period` or more, and of the others with
 * probability size / period. */
struct wire_hit {
    __u32 slot;     /* of the event */
    __u32 kind;     /* which of the things that this event tells apart; its family says */
    __u64 size;     /* ns, words, or 1: what stacks are chosen by */
    __u64 period;   /* as it was then */
    __u64 duration; /* ns until now that had to lie within the window; 0 for a moment */
    __u64 peer;     /* pid term of the other process, 0 if none or not known */
    __u64 values[WIRE_VALUES]; /* in the order of the event's values (profile/events.h) */
};

/* An event of one target is a slot: array map `slots`. The low half of a probe's cookie is its
 * slot, the high half says which of its event's probes it is. */
struct wire_slot {
    __u64 period;    /* at least 1 */
    __u64 opened;    /* ns, when the window began */
    __u32 open;      /* enum wire_open */
    __u32 histogram; /* index of its first one in the map `histograms` */
    __u32 window;    /* counts how often it was opened: what is older is not to be trusted */
    __u32 long_us;   /* what counts as a long schedule */
};

/* Do hits count now? And how often does a part of an interval that the window's start cuts off:
 * as for each that a window's start cuts there is one that its end does, which is never seen, twice
 * where windows stand for more time than their own. */
enum wire_open { WIRE_CLOSED, WIRE_OPEN, WIRE_OPEN_FOR_A_WINDOW };

/* Sums over all CPUs say what was counted: per-CPU array map `slot_counts`. */
struct wire_slot_counts {
    __u64 runs;                  /* of its programs in the target, counted or not */
    __u64 hits;                  /* that count */
    __u64 size;                  /* sum of theirs */
    __u64 lost;                  /* samples that could not be taken, of those that were chosen */
    __u64 values[WIRE_VALUES];   /* sums of theirs */
    __u64 tallies[WIRE_TALLIES]; /* of what else the event's family counts */
};

/* Of one thing that an event measures: per-CPU array map `histograms`. */
struct wire_histogram {
    __u64 max;
    __u64 buckets[LOG_HISTOGRAM_BUCKETS];
};

enum wire_gc_kind {
    WIRE_GC_MINOR,
    WIRE_GC_MAJOR,
    WIRE_GC_HIBERNATE,
    WIRE_GC_DIRTY_MINOR, /* on a dirty scheduler */
    WIRE_GC_DIRTY_MAJOR,
    WIRE_GC_KINDS,
};

/* What is charged: all that is new, or of that what is in heap fragments. */
enum wire_alloc_kind { WIRE_ALLOC_HEAP, WIRE_ALLOC_FRAGMENT };

enum wire_msg_kind { WIRE_MSG_SENT, WIRE_MSG_RECEIVED };

/* Kinds of signals as the VM numbers them (ERTS_SIG_Q_OP_*, erl_proc_sig_queue.h 24:112, 25:115,
 * 27:174, 29:176); also tallies. */
enum wire_signal {
    WIRE_SIGNAL_EXIT,
    WIRE_SIGNAL_EXIT_LINKED,
    WIRE_SIGNAL_DOWN,
    WIRE_SIGNAL_MONITOR,
    WIRE_SIGNAL_DEMONITOR,
    WIRE_SIGNAL_LINK,
    WIRE_SIGNAL_UNLINK,
    WIRE_SIGNAL_GROUP_LEADER,
    WIRE_SIGNAL_TRACE,
    WIRE_SIGNAL_CHANGE, /* of what is monitored: the time offset, nodes */
    WIRE_SIGNAL_IS_ALIVE,
    WIRE_SIGNAL_PROCESS_INFO,
    WIRE_SIGNAL_SUSPEND,
    WIRE_SIGNAL_RPC,
    WIRE_SIGNAL_SPAWN_REPLY,
    WIRE_SIGNAL_MESSAGE, /* to an alias, or with priority */
    WIRE_SIGNAL_RECEIVE_MARK,
    WIRE_SIGNAL_UNLINK_ACK,
    WIRE_SIGNAL_QUEUE_DATA, /* process_flag(message_queue_data) */
    WIRE_SIGNAL_FLUSH,
    WIRE_SIGNAL_NIF_SELECT,
    WIRE_SIGNAL_OTHER,
};
enum wire_msg_tally {
    WIRE_MSG_UNSEEN = WIRE_SIGNAL_OTHER + 1, /* received; when it was sent is not known */
    WIRE_MSG_LEFT_OUT,                       /* too many were queued at once */
    WIRE_MSG_LONG_LIST,                      /* words in part: a list, and nothing else */
    WIRE_MSG_TALLIES,
};
enum wire_msg_histogram { WIRE_MSG_DELAY, WIRE_MSG_WORDS, WIRE_MSG_HISTOGRAMS };

/* Why a process left its scheduler; also tallies. */
enum wire_sched_kind {
    WIRE_SCHED_WAITING,    /* for a message or a timeout */
    WIRE_SCHED_REDUCTIONS, /* it has used up those it had */
    WIRE_SCHED_YIELDED,
    WIRE_SCHED_SUSPENDED,
    WIRE_SCHED_EXITING,
    WIRE_SCHED_DIRTY,   /* to go on on a dirty scheduler, or from there */
    WIRE_SCHED_UNKNOWN, /* before the window began */
    WIRE_SCHED_NEW,     /* it has not run yet */
    WIRE_SCHED_KINDS,
    /* Not why: the sample is of a part of a long slice. */
    WIRE_SCHED_LONG = WIRE_SCHED_KINDS,
    WIRE_SCHED_LONG_END, /* the last one; to be added to why it left */
};

/* A process of a target: hash map `turns`, of those that were seen. */
struct wire_process_key {
    __u64 process; /* Process * */
    __u32 pid;     /* of the VM */
    __u32 unused;
};
enum wire_sched_tally {
    WIRE_SCHED_MIGRATED = WIRE_SCHED_KINDS, /* to another scheduler than it ran on before */
    WIRE_SCHED_NO_DELAY, /* when it became runnable is not known: all of the time was waiting */
    WIRE_SCHED_UNSEEN,   /* since when it was off is not known: left out */
    WIRE_SCHED_NO_ROOM,  /* for another process in the map */
    WIRE_SCHED_TALLIES,
};
enum wire_sched_histogram {
    WIRE_SCHED_DELAYS,
    WIRE_SCHED_DIRTY_DELAYS, /* for a dirty scheduler */
    WIRE_SCHED_WAITS,
    WIRE_SCHED_SLICES,
    WIRE_SCHED_DIRTY_SLICES,
    WIRE_SCHED_HISTOGRAMS,
};

/* ---- the clock of CPU samples ---- */

/* Each interrupt of the clock is a tick. The guard stops all sampling when ticks come more than
 * twice as often as asked for, or when handling them takes more than 5 % of a CPU. Both are leaky
 * buckets, in ns: a tick fills one by half of the time from tick to tick that was asked for, and
 * the other by the time that the program ran; they leak by all of the time that passes, and by 5 %
 * of it. A single long run, in which a hypervisor may have taken the CPU away, counts as
 * WIRE_GUARD_RUN_NS. */
enum wire_guard_limits {
    WIRE_GUARD_TICKS = 6, /* that may come at once */
    WIRE_GUARD_TICKS_NS = 5000000,
    WIRE_GUARD_RUN_NS = 1000000,
    WIRE_GUARD_RUNS_NS = 4000000,
    WIRE_GUARD_SHARE = 20, /* 1 / 5 % */
};

/* Of one CPU: per-CPU array map `clocks`. */
struct wire_clock {
    __u64 counted; /* what the event had counted at the last tick */
    __u64 time;    /* ns, CLOCK_MONOTONIC, of the last tick; 0: there was none */
    __u64 thread;  /* that the last tick hit: its id, and how often it had left a CPU */
    __u64 switches;
    __u64 ticks_level; /* of the guard's buckets */
    __u64 runs_level;
};

enum wire_guard_reason { WIRE_GUARD_QUIET, WIRE_GUARD_STORM, WIRE_GUARD_SLOW };

/* Array map `guard`. Once there is a reason, ticks do nothing. */
struct wire_guard {
    __u64 tick_ns;   /* from tick to tick, as asked for */
    __u32 reason;    /* enum wire_guard_reason */
    __u32 cpu;       /* on which it was found */
    __u32 counts_ns; /* the clock is a timer */
    __u32 unused;
};

/* Instead of a sample: only wakes the reader. */
struct wire_bell {
    __u64 unused;
};

/* Counters of the kernel side, per CPU: array map `counters`. */
enum wire_counter {
    WIRE_COUNT_RING_FULL, /* samples dropped because the ring buffer was full */
    WIRE_COUNTERS,
};

_Static_assert(sizeof(struct wire_segment) == 16, "wire format");
_Static_assert(sizeof(struct wire_registers) == 136, "wire format");
_Static_assert(sizeof(struct wire_sample) == 32 + 136 + 24 + 16 + WIRE_SEGMENTS * 16,
               "wire format");
_Static_assert(sizeof(struct wire_target) == 224, "wire format");
_Static_assert(sizeof(struct wire_thread_key) == 16, "wire format");
_Static_assert(sizeof(struct wire_hit) == 40 + WIRE_VALUES * 8, "wire format");
_Static_assert(sizeof(struct wire_slot) == 32, "wire format");

#endif
