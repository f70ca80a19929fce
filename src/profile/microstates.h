// SPDX-License-Identifier: Apache-2.0
/*
 * The states in which the threads of a VM spend their time, computed from CPU samples. The states
 * are as in the VM's own microstate accounting (msacc: erl_msacc.h,
 * erlang:statistics(microstate_accounting)), some of them split further.
 *
 *      msacc      here
 *      emulator   emulator + bif + nif + gc_hibernate
 *      gc         gc_minor + gc_major + gc
 *      other      other + busy_wait
 *      sleep      sleep
 *      the rest   under the same name
 *
 * msacc reads a clock at each change of state. Samples show only time on a CPU; the kernel's counts
 * for each thread (profile/threads.h) give the total of that time:
 *
 *  - A thread that has no CPU is in no sample. The time that it waited for a CPU is known. All the
 *    rest counts as sleep, even if the thread blocks in another state of the VM (a NIF that reads a
 *    file, a lock). msacc counts the wait for a CPU to the state in which the thread waited: to
 *    sleep, if the thread was being woken.
 *  - Samples count the time that they stand for by their clock, before scaling (docs/clocks.md).
 *    Time on a CPU that the samples do not show is `unknown`. Where timers fire late, as in virtual
 *    machines, samples miss the last moments before a thread sleeps: other, busy_wait or sleep.
 */
#pragma once

#include "profile/profile.h"
#include "profile/threads.h"

enum microstate {
    MICROSTATE_NONE = 0, /* not known */
    MICROSTATE_EMULATOR, /* Erlang code, and C code that runs on its behalf */
    MICROSTATE_BIF,
    MICROSTATE_NIF,
    MICROSTATE_GC_MINOR,
    MICROSTATE_GC_MAJOR,
    MICROSTATE_GC,           /* a collection that may be minor or major */
    MICROSTATE_GC_HIBERNATE, /* collections that msacc counts as emulator */
    MICROSTATE_PORT,         /* callbacks of drivers */
    MICROSTATE_CHECK_IO,
    MICROSTATE_AUX,
    MICROSTATE_BUSY_WAIT,
    MICROSTATE_OTHER, /* scheduling, timers */
    MICROSTATE_SLEEP, /* in samples: going to sleep or waking up */
    MICROSTATE_COUNT,
};
/* True for collections of any kind. */
bool microstate_is_gc(enum microstate state);
const char *microstate_name(enum microstate state); /* "gc_minor": the key in JSON */

/* The times of one thread. */
struct microstate_row {
    target_id target; /* 0: not known */
    uint32_t tid;
    enum thread_type type;
    uint32_t number; /* number of the thread within its type */
    uint64_t span_ns;
    uint64_t samples;
    uint64_t sampled_ns;      /* time of the samples by their clock, before scaling */
    bool counted;             /* the kernel's counts (cpu_ns, wait_ns) are known */
    uint64_t cpu_ns, wait_ns; /* time on a CPU; time waiting for one */
    /* Time in each state. The sum is span_ns without wait_ns. */
    uint64_t ns[MICROSTATE_COUNT];
};

struct microstates;

struct microstates *microstates_new(const struct profile *profile);
void microstates_free(struct microstates *states);

/* Count a sample. Samples of other events than cpu are ignored. */
void microstates_add(struct microstates *states, const struct sample *sample);

/* Return a row for each thread that msacc knows, ordered by target, type and number: *count rows,
 * which the caller frees. There are none if no sample was of CPU time. `start` and `end` (ns) of
 * the recording apply to threads that `times` does not have. */
struct microstate_row *microstates_rows(struct microstates *states,
                                        const struct thread_times *times, uint64_t start,
                                        uint64_t end, size_t *count);

/* Return the time in which the thread had a CPU and did not wait for work there. */
uint64_t microstate_row_busy(const struct microstate_row *row);

/* Add a row to the sum of several threads. */
void microstate_row_add(struct microstate_row *sum, const struct microstate_row *row);
