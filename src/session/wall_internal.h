// SPDX-License-Identifier: Apache-2.0
/* What the files of a VM's sweeps share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/process_sweep.h"
#include "session/wall.h"

enum {
    STACK_NS = 1000000000, /* time for which a CPU sample gives the stack of its process */
};

/* A process that ran when the sweep visited it. */
struct pending {
    struct sample sample;
    uint64_t address, id; /* of its struct; pid term */
    uint64_t looked;      /* when its thread was last looked at; at first, the time of the sweep */
    bool done;
};

/* The last sweep. Its samples get their weight when they are appended. */
struct last_sweep {
    struct sample *samples; /* of processes that did not run, except `unchanged` */
    size_t count, room;
    uint64_t *unchanged; /* structs of processes whose time is owed (struct owed_time) */
    size_t unchanged_count, unchanged_room;
    struct sweep_counts counts;
    struct recording_totals totals;
    bool is_of_all;     /* that are requested */
    bool is_remembered; /* its samples serve later sweeps */
    bool may_repeat;    /* while the VM rests, another sweep would find the same */
    bool is_repeat;     /* the last sweep was one */
    uint64_t time;      /* ns: of the sweep, or of its last repeat */
    uint64_t unwritten; /* sweep and repeats that have no samples in the recording yet */
};

struct wall {
    struct vm *vm;
    struct symbolizer *symbolizer;
    struct wall_options options;
    struct process_sweep *sweep;
    struct process_top *top;
    uint64_t started, swept, next; /* ns: counts, last sweep, next sweep */
    uint64_t choose_at, others;    /* next choice of the top; processes not in it */
    struct pending *pending;
    size_t pending_count, pending_room;
    struct last_sweep last;
    struct wall_resting *resting;
    struct wall_recent recent;
    /* of the current call */
    uint64_t now;
    struct segment *segment;
    struct error *error;
    int result;
    /* of the segment */
    uint64_t samples, time, tallies[WALL_TALLIES];
    struct wall_population population;
};

/* Give a sample of the event its values: it stands for `weight` ns, and is of so many sweeps. */
void wall_set_values(const struct wall *wall, struct sample *sample, uint64_t weight,
                     uint64_t sweeps);

/* Append a sample. One that is too old for the order of samples gets the oldest time that is not.
 */
void wall_append(struct wall *wall, struct sample *sample);

/* ---- wall_running.c ---- */

/* Let a process that ran when it was visited wait for a CPU sample. */
void wall_running_add(struct wall *wall, const struct swept_process *swept);

/* Append the samples of running processes that have waited long enough, or `all`. A process that
 * continued to run has been sampled by now. One that left the CPU may have a sample from before.
 * A process without a sample is looked at again after the same time. */
void wall_running_settle(struct wall *wall, bool all);
