/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * Shared by the program on calls of Erlang functions (bpf/calls.bpf.c) and user space.
 *
 * A hardware breakpoint lies on the entry of each function. User space keeps a site for each entry,
 * and the program counts in maps, which user space reads. To measure how long calls take, other
 * breakpoints lie where they return to. A call is known by its process and by the place of its
 * return address on the process's stack.
 */
#ifndef BEAMFLAME_WIRE_CALLS_H
#define BEAMFLAME_WIRE_CALLS_H

#include "wire.h"
#include "wire_arguments.h"
#include "wire_match.h"

enum wire_calls_limits {
    WIRE_CALL_AT_ONCE = 4, /* functions that are counted at once: a CPU has as many breakpoints */
    WIRE_CALL_FUNCTIONS = 64,    /* that are counted in turn */
    WIRE_CALL_TRIAL = 64,        /* the number of the function of the trial, which is no target's */
    WIRE_CALL_RETURN = 65,       /* the number of what a breakpoint on a return address counts */
    WIRE_CALL_ALL = 66,          /* its `calls` are all hits of breakpoints */
    WIRE_CALL_SPLIT = 67,        /* its `calls` are all hits of the probes that split times */
    WIRE_CALL_COUNTS = 68,       /* functions, and the others of these numbers */
    WIRE_CALL_SITES = 16,        /* more than there can be breakpoints */
    WIRE_CALL_ENTRIES = 1 << 14, /* of each map with a key of its own for each caller or process */
    WIRE_CALL_MFA_WORDS = 3,
    WIRE_CALL_WEIGHT = 1 << 10, /* the weight of a call that stands for itself */
    WIRE_CALL_TIMES = 1 << 15,  /* rows of times, of all callers */
    WIRE_CALL_TIME_BITS = 6,    /* a time is known to 1 in 2^6 */
    WIRE_CALL_PARTS = 5,        /* of a time (struct wire_call_split) */
    WIRE_CALL_PART_TIMES = WIRE_CALL_PARTS * WIRE_CALL_TIMES, /* the same of their parts */
    WIRE_CALL_SCHEDULERS = 4096, /* of a VM: it has up to 3,072, of all types */
    WIRE_SLOW_WORDS = 128,       /* of the stack of a slow call */
    WIRE_SLOW_BYTES = 1 << 21,   /* of the ring buffer of slow calls */
};

/* The entry of a function, found by its address. The VM has an Erlang function's name just before
 * the entry (ErtsCodeInfo.mfa): atoms of module and function, and the arity. If other words are
 * there, the VM has put other code there since. */
struct wire_call_site {
    __u64 mfa[WIRE_CALL_MFA_WORDS];
    __u32 function; /* its number: less than WIRE_CALL_COUNTS */
    __u16 arity;
    __u8 loops;  /* it calls itself by a jump: such a call is a part of the one before */
    __u8 is_bif; /* it is C code: no name is before the entry */
};

/* Counts of each function, by its number. */
struct wire_call_counts {
    __u64 calls;
    __u64 weight;    /* of the calls, also of those that have no row because the map is full */
    __u64 strangers; /* hits of other code: not calls of the function */
    __u64 replaced;  /* calls that did not return: another one has their place on the stack */
    __u64 ended;     /* calls that did not return: another process has their place */
    __u64 no_room;   /* calls that were not followed, because too many had not returned */
    __u64 untimed;   /* calls that returned, and for whose time there was no room */
    __u64
        unmatched; /* calls whose arguments do not match the pattern: they are in no other count */
    __u64 unmatched_weight;
    __u64 unchecked; /* calls that may match, or not: neither */
    __u64 unchecked_weight;
    __u64 unlisted;  /* slow calls for which the ring buffer had no room */
    __u64 unsplit;   /* calls that returned, and of whose time the parts are not known */
    __u64 search_ns; /* of all functions: time in which large maps were searched */
};

/* The values of both maps. Where breakpoints are set in windows, a call stands for several. */
struct wire_call_row {
    __u64 calls;
    __u64 weight; /* of the calls, in parts of WIRE_CALL_WEIGHT */
};

/* The keys of both maps. */
struct wire_call_key {
    __u32 function;
    __u32 code;   /* callers: the number of the code map when the call was made; else 0 */
    __u64 who;    /* callers: the return address; processes: the pid term; 0: it can't be read */
    __u64 caller; /* processes, if counted by caller: the return address; else 0 */
};

/* ---- times ---- */

/* Where a process keeps the return address of a call. The VM moves stacks, but not against their
 * end. */
struct wire_call_frame {
    __u64 process; /* its struct */
    __u64 depth;   /* bytes from the return address to the end of the stack */
};

/* Where fields of the VM's structs are, as offsets. */
struct wire_memory_fields {
    __u32 heap;                                                /* 0: words are not measured */
    __u32 old_heap, old_top, fragments, reductions, scheduler; /* of Process */
    __u32 reclaimed;                                           /* of ErtsSchedulerData */
};

/* How many words a process has allocated is a difference of two of these. They can be compared
 * while the process was not scheduled out in between: each time it is, its reductions grow. */
struct wire_call_memory {
    __u64 scheduler;  /* address of its struct; 0: unknown */
    __u64 reductions; /* of the process, until it was scheduled in */
    __u64 words;      /* on its heaps and in fragments, and reclaimed by the scheduler before */
};

/* What a process has done with its time, as sums of ns. The first four are all of it. */
struct wire_call_split {
    __u64 running;    /* on a scheduler whose thread had a CPU, or waited within a system call */
    __u64 preempted;  /* on a scheduler whose thread waited for a CPU */
    __u64 runnable;   /* in a run queue of the VM */
    __u64 waiting;    /* the rest: for a message, a timeout, or while suspended */
    __u64 collecting; /* the part of `running` in garbage collections */
};

/* The time of a process that has a call that has not returned. */
struct wire_process_time {
    __u64 began; /* ns, CLOCK_MONOTONIC */
    __u64 since; /* the sums are those until then */
    __u64 pid;   /* the pid term */
    __u64 depth; /* of the outermost call (wire_call_frame) */
    struct wire_call_split sums;
    __u64 delayed; /* while on a scheduler: what its thread had waited for CPUs at `since`, ns */
    __u32 state;   /* enum process_state of bpf/call_split.h */
    __u16 collects;
    __u16 is_wrong; /* a hit does not fit the one before: sums from now on are not known */
};

/* Where fields of the VM's structs are, as offsets. */
struct wire_split_fields {
    __u32 vm_pid;  /* of the VM's process; 0: times are not split */
    __u32 state;   /* of Process */
    __u32 current; /* of ErtsSchedulerData: the process that it runs */
};

/* A call that has not returned. */
struct wire_open_call {
    __u64 began; /* ns, CLOCK_MONOTONIC */
    __u64 weight;
    __u64 pid; /* the pid term */
    __u64 caller;
    __u32 function;
    __u32 code;
    struct wire_call_memory memory; /* when it began */
    struct wire_call_split split;   /* of its process when it began */
    __u64 split_began;              /* wire_process_time.began; 0: not known */
};

struct wire_time_key {
    __u64 caller; /* the return address */
    __u32 code;
    __u16 function;
    __u16 bucket; /* wire_time_bucket() */
};

struct wire_time_row {
    __u64 calls, weight;
    __u64 ns;                        /* sum */
    __u64 longest;                   /* ns */
    __u64 measured, measured_weight; /* calls whose words are known */
    __u64 words;                     /* sum of their words times their weights */
    __u64 split_calls;               /* calls of whose time the parts are known */
    struct wire_call_split split;    /* sums of these */
};

/* How long a part of the time of calls is: calls by the length of that part. */
struct wire_part_key {
    struct wire_time_key time; /* `bucket` is that of the part */
    __u64 part;                /* its place in struct wire_call_split */
};

struct wire_part_row {
    __u64 calls, weight;
    __u64 ns; /* sum */
};

/* A call that took long, when it returns. */
struct wire_slow_call {
    __u64 ended, took; /* ns, CLOCK_MONOTONIC */
    __u64 pid;         /* the pid term */
    __u64 caller;
    __u32 function;
    __u32 code;
    __u32 has_arguments; /* `arguments` is set */
    __u32 words;         /* that `stack` has */
    __u32 is_split;      /* `split` is set */
    __u32 unused;
    struct wire_call_split split;
    __u64 stack[WIRE_SLOW_WORDS]; /* from the caller's frame on, towards the start of the process */
    struct wire_arguments arguments;
};

/* As log_histogram_bucket(), with 2^WIRE_CALL_TIME_BITS buckets an octave. */
static inline __u32 wire_time_bucket(__u64 ns)
{
    __u32 bit = log_histogram_high_bit(ns);

    if (bit < WIRE_CALL_TIME_BITS)
        return (__u32)ns;
    return ((bit - WIRE_CALL_TIME_BITS + 1) << WIRE_CALL_TIME_BITS) +
           (__u32)(ns >> (bit - WIRE_CALL_TIME_BITS) & ((1 << WIRE_CALL_TIME_BITS) - 1));
}

#endif
