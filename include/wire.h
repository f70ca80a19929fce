/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * The data that the BPF programs hand to user space.
 *
 * A sample is a small core dump of one thread at one moment: its registers, its kernel stack, and a
 * few regions of its memory. The BPF programs copy, user space interprets. User space reads words
 * from the regions as if they were the target's memory at that moment.
 *
 *   struct wire_sample │ kernel addresses (u64 each) │ bytes of region 0 │ bytes of region 1 ...
 *
 * The layout is fixed, little-endian, and the same on both sides. The assertions below check the
 * sizes.
 */
#ifndef BEAMFLAME_WIRE_H
#define BEAMFLAME_WIRE_H

#include "arch.h"
#include "log_histogram.h"
#include "vm_constants.h"

enum wire_limits {
    WIRE_REGIONS = 16,
    WIRE_KERNEL_DEPTH = 64,
    WIRE_WORDS = 38,                /* words of one struct */
    WIRE_START_NS = 10000000,       /* the kernel shows start times in hundredths of a second */
    WIRE_SCHEDULER_BYTES = 256,     /* start of ErtsSchedulerData, with all fields that samples
                                     * need */
    WIRE_PROCESS_BYTES = 1024,      /* at most; struct process is 736..792 bytes */
    WIRE_C_STACK_BYTES = 8192,      /* native stack, from the stack pointer up */
    WIRE_C_ROOT_BYTES = 4096,       /* root end of a deeper native stack, next to the JIT's frame */
    WIRE_ERLANG_LEAF_BYTES = 16384, /* leaf end of the Erlang stack */
    WIRE_ERLANG_ROOT_BYTES = 1024,  /* root end of a deeper Erlang stack */
    WIRE_ERLANG_BELOW_BYTES = 4096, /* just below Process.stop, where the true top may be */
    WIRE_ERLANG_FAR_BYTES = 8192,   /* around a true top that lies further below */
    WIRE_MFA_BYTES = 24,
    WIRE_CALLER_WORDS = 256, /* words of the native stack that are searched for the caller of a
                              * match specification */
    WIRE_SCAN_WORDS = 64,    /* words of the native stack that are searched for the true top */
    WIRE_RETURNS = 4,        /* return addresses replaced by uretprobes */
    WIRE_MEMORIES = 12, /* that one run of look_at_locks() takes: the most that Linux 5.10 does */
    WIRE_MEMORY_READERS = 1, /* added to one: readers count, too */
    WIRE_SCRATCHES = 3,      /* buffers per CPU; the first is for CPU samples */
    WIRE_TALLIES = 25,
    WIRE_VALUES = 6, /* values of a hit */
};

enum wire_region_kind {
    REGION_SCHEDULER = 1,   /* ErtsSchedulerData: user space makes it (symbol/snapshot.h) */
    REGION_PROCESS,         /* Process: user space makes it */
    REGION_NATIVE,          /* native stack */
    REGION_ERLANG,          /* Erlang stack */
    REGION_SLEEP_INFO,      /* ErtsSchedulerSleepInfo */
    REGION_MFA,             /* ErtsCodeMFA at Process.current: three words */
    REGION_RETURN,          /* true return address of the stack slot at region.address */
    REGION_HIT,             /* struct wire_hit: an event took the sample, not the CPU clock */
    REGION_SCHEDULER_WORDS, /* ErtsSchedulerData: the words in wire_target.scheduler_words */
    REGION_PROCESS_WORDS,   /* Process: the words in wire_target.process_words */
    REGION_TICK,            /* u64: the clock's count that the sample stands for */
    REGION_TRACE,           /* struct wire_trace: the trace that the process works for */
    REGION_TABLE,           /* struct wire_table: the table that an ETS function may have got */
};

/* The words of a struct that a sample contains. Their offsets in the struct are ascending multiples
 * of 8. */
struct wire_words {
    __u32 count;
    __u16 offsets[WIRE_WORDS];
};

struct wire_region {
    __u64 address; /* in the target */
    __u32 size;    /* bytes; they follow in the order of the regions */
    __u32 kind;    /* enum wire_region_kind */
};

enum wire_flag {
    WIRE_IN_KERNEL = 1 << 0,        /* the tick hit kernel code; the registers are user code's */
    WIRE_REGISTERS = 1 << 1,        /* the registers are valid (a kernel thread has none) */
    WIRE_KERNEL_STACK_CUT = 1 << 2, /* the kernel stack is deeper than WIRE_KERNEL_DEPTH, or
                                     * unavailable */
    WIRE_AT_REST = 1 << 3, /* the process is not running: its stack begins at Process.stop, and it
                            * would resume at Process.i */
    WIRE_WAITS = 1 << 4,   /* only the stack pointer and the pc are valid: the thread waits in the
                            * kernel, or the tick hit the kernel's entry code */
    WIRE_ENTRY = 1 << 5,   /* an NMI hit the kernel's entry code before it had saved the registers
                            * of user code: registers and stack are unknown */
    WIRE_FAULT = 1 << 6,   /* a struct, or an end of a stack, could not be read: its region is
                            * missing */
    WIRE_TRACE_UNKNOWN = 1 << 7, /* the process may work for a trace, which could not be read */
};

/* User registers at the sample. */
struct wire_registers {
    __u64 value[CPU_REGISTERS]; /* by enum cpu_register */
};

struct wire_sample {
    __u64 time;            /* ns, CLOCK_MONOTONIC */
    __u64 code_generation; /* the word at wire_target.code_generation_address, 0 if not read */
    __u64 scheduler;       /* ErtsSchedulerData * of the thread, 0 if it is no scheduler */
    __u64 process;         /* Process * that it runs, 0 if none */
    struct wire_registers registers;
    __u32 pid, tid; /* in the initial pid namespace */
    __u32 cpu;
    __u32 flags;        /* enum wire_flag */
    __u32 kernel_depth; /* kernel addresses that follow */
    __u32 region_count;
    char thread_name[16];
    struct wire_region regions[WIRE_REGIONS];
};

/* The ids of a span of OpenTelemetry; neither is 0. */
struct wire_trace {
    __u64 trace_high, trace_low; /* of 128 bits */
    __u64 span;
};

/* The first argument of the BIF that runs, if it can be an ETS table: an atom, or a magic reference
 * (bpf/table.h). Other BIFs have such arguments too: user space knows which BIF runs. */
struct wire_table {
    __u64 name;                      /* atom term; 0: a reference */
    __u64 identifier;                /* address of the reference's ErtsMagicBinary */
    __u32 numbers[ERTS_REF_NUMBERS]; /* of the reference, as in memory */
    __u32 continues; /* true: the argument is a tuple, whose first element is the table */
};

/* Names in a VM with OpenTelemetry: atom terms. */
struct wire_trace_atoms {
    __u64 context;  /* '$__current_otel_ctx'; 0: the VM has no traces */
    __u64 tracer;   /* otel_tracer */
    __u64 span_ctx; /* span_ctx */
};

/* The facts of a VM that the BPF programs need: hash map `targets`, key: pid (u32). A later process
 * can have the same pid, and a later program the same process: they have another start or stack. */
struct wire_target {
    __u64 started;     /* ns, CLOCK_BOOTTIME of the kernel: the process started in [started, started
                        * + WIRE_START_NS) */
    __u64 start_stack; /* address at which the program's first stack began; 0: not known */
    __u64 code_generation_address; /* 0: not read */
    __u64 skipped;                 /* ticks of 2^32 that give no CPU sample; picked at random */
    struct wire_trace_atoms trace;
    struct wire_words process_words, scheduler_words;
    /* offsets of fields */
#define WIRE_FIELD(of, member) __u16 member;
#define WIRE_OFFSET(member)    __u16 member;
#include "wire_fields.h"
    __u16 saved_top;     /* enum cpu_register: has the Erlang stack's top where Process.stop is
                          * stale */
    __u16 alias_message; /* index of the message in the tuple of a message to an alias */
    __u32 native_stack;  /* true: Erlang code runs on the Erlang stack */
};

/* A scheduler thread: hash map `schedulers`. The key is the thread pointer, which
 * pthread_self() returns and ErtsSchedulerData.tid holds. */
struct wire_thread_key {
    __u64 thread_pointer;
    __u32 pid;
    __u32 unused;
};

struct wire_thread {
    __u64 scheduler; /* ErtsSchedulerData * */
    __u32 type;      /* enum erts_sched_type */
    __u32 unused;
};

/* ---- probes ---- */

/* What an event measured at a hit: a region of the sample that was taken there. A hit that counts
 * gets a sample with probability size / period, and always if `size` is at least `period`. */
struct wire_hit {
    __u32 slot;     /* number of the event's struct wire_slot */
    __u32 kind;     /* what the event tells apart: enum wire_gc_kind, wire_sched_kind... */
    __u64 size;     /* ns, words, or 1: hits are chosen for samples by it */
    __u64 period;   /* the slot's period at the hit */
    __u64 duration; /* ns that ended at the hit and had to lie within the window; 0 for a moment */
    __u64 peer;     /* pid term of the other process, 0 if none or unknown */
    __u64 values[WIRE_VALUES]; /* in the order of the event's values (profile/events.h) */
};

/* A slot is one event of one target: array map `slots`. The low half of a probe's cookie is the
 * number of its slot, the high half its event_site.kind. */
struct wire_slot {
    __u64 period;    /* at least 1 */
    __u64 opened;    /* ns, when the window began */
    __u32 open;      /* enum wire_open */
    __u32 histogram; /* index of the event's first histogram in the map `histograms` */
    __u32 window;    /* number of the window; what older windows noted is not used */
    __u32 long_us;   /* us from which a slice is a long schedule */
    __u32 alarm;     /* Each time a CPU has counted this many more runs, the number of the slot goes
                      * into the ring buffer `run_alarms`. A power of two; 0: never */
    __u32 unused;
};

/* States of an event: hits count, or they do not. The value is also the weight of an interval that
 * the start of a window cuts: only the part within the window is known. For each such interval, the
 * end of a window cuts another one, which is never seen. So a cut interval counts twice where
 * windows stand for more than their own time. */
enum wire_open { WIRE_CLOSED, WIRE_OPEN, WIRE_OPEN_FOR_A_WINDOW };

/* Counts: per-CPU array map `slot_counts`. The totals are sums over all CPUs. */
struct wire_slot_counts {
    __u64 runs;                  /* runs of the event's programs in the target, whether hits count
                                  * or not */
    __u64 hits;                  /* hits that count */
    __u64 size;                  /* sum of their sizes */
    __u64 lost;                  /* chosen hits without a sample, and intervals whose start was not
                                  * noted */
    __u64 values[WIRE_VALUES];   /* sums of their values */
    __u64 tallies[WIRE_TALLIES]; /* further counts, such as enum wire_sched_tally */
};

/* A histogram of one quantity of an event: per-CPU array map `histograms`. */
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

/* The words that an allocation is charged with: all new words, or only those in heap fragments. */
enum wire_alloc_kind { WIRE_ALLOC_HEAP, WIRE_ALLOC_FRAGMENT };

enum wire_msg_kind { WIRE_MSG_SENT, WIRE_MSG_RECEIVED };

/* The kinds of signals (enum erts_sig_q_op) are tallies too. */
enum wire_msg_tally {
    WIRE_MSG_OTHER_SIGNAL = ERTS_SIG_Q_OPS, /* of no known kind */
    WIRE_MSG_UNSEEN,                        /* received messages whose sending was not seen */
    WIRE_MSG_LEFT_OUT,                      /* hits that queued more signals than are examined */
    WIRE_MSG_LONG_LIST,                     /* messages whose words were counted in part: long
                                             * lists */
    WIRE_MSG_TALLIES,
};
enum wire_msg_histogram { WIRE_MSG_DELAY, WIRE_MSG_WORDS, WIRE_MSG_HISTOGRAMS };

/* Why a process left its scheduler. The numbers are also indices of tallies. */
enum wire_sched_kind {
    WIRE_SCHED_WAITING,    /* for a message or a timeout */
    WIRE_SCHED_REDUCTIONS, /* it has used up its reductions */
    WIRE_SCHED_YIELDED,
    WIRE_SCHED_SUSPENDED,
    WIRE_SCHED_EXITING,
    WIRE_SCHED_DIRTY,   /* to resume on a dirty scheduler, or it left one */
    WIRE_SCHED_UNKNOWN, /* it left before the window began */
    WIRE_SCHED_NEW,     /* it has not run yet */
    WIRE_SCHED_KINDS,
    /* These are not reasons: the sample covers a part of a long slice. */
    WIRE_SCHED_LONG = WIRE_SCHED_KINDS,
    WIRE_SCHED_LONG_END, /* the last part; the number of the reason is added */
};

/* A process of a target that the sched programs have seen: key of the hash map `turns`. */
struct wire_process_key {
    __u64 process; /* Process * */
    __u32 pid;     /* of the VM */
    __u32 unused;
};
enum wire_sched_tally {
    WIRE_SCHED_MIGRATED = WIRE_SCHED_KINDS, /* it ran on another scheduler before */
    WIRE_SCHED_NO_DELAY, /* it is unknown when it became runnable: the time off counts as waiting */
    WIRE_SCHED_UNSEEN,   /* no known start of its time off, or of its slice: not counted */
    WIRE_SCHED_NO_ROOM,  /* in the map `turns` for another process */
    WIRE_SCHED_TALLIES,
};
enum wire_sched_histogram {
    WIRE_SCHED_DELAYS,
    WIRE_SCHED_DIRTY_DELAYS, /* in the run queue of a dirty scheduler */
    WIRE_SCHED_WAITS,
    WIRE_SCHED_SLICES,
    WIRE_SCHED_DIRTY_SLICES,
    WIRE_SCHED_HISTOGRAMS,
};

/* ---- the clock of CPU samples ---- */

/* A tick is one interrupt of the clock. The guard stops CPU sampling when ticks come more than
 * twice as often as requested, or when their handling takes more than 5 % of a CPU. Each of the two
 * checks has a leaky bucket, in ns. A tick fills the first bucket by half of the requested time
 * between ticks, and the second by the run time of the program. The first bucket leaks by all of
 * the time that passes, the second by 5 % of it. A run counts as WIRE_GUARD_RUN_NS at most, because
 * a hypervisor may have taken the CPU away meanwhile. */
enum wire_guard_limits {
    WIRE_GUARD_TICKS = 6, /* ticks that may come at once */
    WIRE_GUARD_TICKS_NS = 5000000,
    WIRE_GUARD_RUN_NS = 1000000,
    WIRE_GUARD_RUNS_NS = 4000000,
    WIRE_GUARD_SHARE = 20, /* 1 / 5 % */
};

/* The clock of one CPU: per-CPU array map `clocks`. */
struct wire_clock {
    __u64 counted; /* the event's count at the last tick */
    __u64 time;    /* ns, CLOCK_MONOTONIC, of the last tick; 0: there was none */
    __u64 thread;  /* id of the thread that the last tick hit */
    __u64 switches;
    __u64 ticks_level; /* levels of the guard's buckets, ns */
    __u64 runs_level;
};

enum wire_guard_reason { WIRE_GUARD_QUIET, WIRE_GUARD_STORM, WIRE_GUARD_SLOW };

/* Array map `guards`. Once `reason` is set, ticks do nothing. */
struct wire_guard {
    __u64 tick_ns;   /* requested time between ticks */
    __u32 reason;    /* enum wire_guard_reason */
    __u32 cpu;       /* CPU on which the reason was found */
    __u32 counts_ns; /* true: the clock is a timer */
    __u32 unused;
};

/* Comes instead of a sample, only to wake the reader. */
struct wire_bell {
    __u64 unused;
};

/* Comes instead of a sample when a process begins a program that may be a VM. */
struct wire_start {
    __u32 pid; /* in the initial pid namespace */
    __u32 unused[3];
};

/* Counters of the BPF programs: per-CPU array map `counters`. */
enum wire_counter {
    WIRE_COUNT_RING_FULL, /* samples dropped because the ring buffer was full */
    WIRE_COUNTERS,
};

_Static_assert(sizeof(struct wire_region) == 16, "wire format");
_Static_assert(sizeof(struct wire_registers) == CPU_REGISTERS * sizeof(__u64), "wire format");
_Static_assert(sizeof(struct wire_sample) - sizeof(struct wire_registers) ==
                   32 + 24 + 16 + WIRE_REGIONS * 16,
               "wire format");
_Static_assert(sizeof(struct wire_target) == 296, "wire format");
_Static_assert(sizeof(struct wire_thread_key) == 16, "wire format");
_Static_assert(sizeof(struct wire_hit) == 40 + WIRE_VALUES * 8, "wire format");
_Static_assert(sizeof(struct wire_slot) == 40, "wire format");
_Static_assert(sizeof(struct wire_start) != sizeof(struct wire_bell), "they differ in size");

#endif
