// SPDX-License-Identifier: Apache-2.0
/*
 * What the threads of a VM spend their time on, told from CPU samples: the states of the VM's own
 * microstate accounting (msacc: erl_msacc.h, erlang:statistics(microstate_accounting)), some of
 * them split further.
 *
 *      msacc      here
 *      emulator   emulator + bif + nif + gc_hibernate
 *      gc         gc_minor + gc_major + gc
 *      other      other + busy_wait
 *      sleep      sleep
 *      the rest   under the same name
 *
 * While msacc reads a clock at each change of state, samples see time on a CPU only, and what the
 * kernel counts of each thread (profile/thread_time.h) says how much of it there is:
 *
 *  - A thread that has no CPU is in no sample. What of that time it waited for one is known; all
 *    the rest counts as sleep, though the VM may have called what blocks in another state (a NIF
 *    that reads a file, a lock). msacc has the wait in the state that it waited in: sleep, if it
 *    was being woken.
 *  - Samples count what they stand for by their clock, before they were scaled (docs/clocks.md).
 *    Time on a CPU that they do not show is `unknown`. Where timers fire late, as in virtual
 *    machines, samples miss the last moments before a thread sleeps: other, busy_wait or sleep.
 */
#pragma once

#include "profile/profile.h"
#include "profile/thread_time.h"
#include "profile/thread_type.h"

enum microstate {
    MICROSTATE_NONE = 0, /* not known */
    MICROSTATE_EMULATOR, /* Erlang code, and C code that runs on its behalf */
    MICROSTATE_BIF,
    MICROSTATE_NIF,
    MICROSTATE_GC_MINOR,
    MICROSTATE_GC_MAJOR,
    MICROSTATE_GC,           /* a collection of which it can't be told whether it is major */
    MICROSTATE_GC_HIBERNATE, /* collections that msacc does not count as such */
    MICROSTATE_PORT,         /* callbacks of drivers */
    MICROSTATE_CHECK_IO,
    MICROSTATE_AUX,
    MICROSTATE_BUSY_WAIT,
    MICROSTATE_OTHER, /* scheduling, timers */
    MICROSTATE_SLEEP, /* in samples: on the way into sleep and out of it */
    MICROSTATE_COUNT,
};
const char *microstate_name(enum microstate state); /* "gc_minor": the key in JSON */

/* One thread, over the time that is known of it. */
struct microstate_row {
    target_id target; /* 0: not known */
    uint32_t tid;
    enum thread_type type;
    uint32_t number; /* of the threads of its type */
    uint64_t span_ns;
    uint64_t samples;
    uint64_t sampled_ns;      /* that they stand for by their clock, before they were scaled */
    bool counted;             /* the kernel's counts are known: */
    uint64_t cpu_ns, wait_ns; /* time on a CPU; time that it waited for one */
    /* Together all of span_ns but for wait_ns. */
    uint64_t ns[MICROSTATE_COUNT];
};

struct microstates;

struct microstates *microstates_new(const struct profile *profile);
void microstates_free(struct microstates *states);

/* Count a sample; only those of CPU time matter. */
void microstates_add(struct microstates *states, const struct sample *sample);

/* The threads that msacc knows, ordered by target, type and number; *count of them, to be freed.
 * `start` and `end` (ns) are those of the recording, for threads of which `times` has nothing. None
 * where no sample was of CPU time. */
struct microstate_row *microstates_rows(struct microstates *states,
                                        const struct thread_times *times, uint64_t start,
                                        uint64_t end, size_t *count);

/* Add up the rows of several threads. */
void microstate_row_add(struct microstate_row *sum, const struct microstate_row *row);
