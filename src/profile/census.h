// SPDX-License-Identifier: Apache-2.0
/* All Erlang processes of one VM at one moment: what `beamflame dump` shows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"
#include "profile/profile.h"

struct census_process {
    process_id process;
    struct metrics metrics;
    stack_id stack;   /* 0: not known */
    thread_id thread; /* that runs it, 0 if none */
    uint8_t status;   /* enum process_status */
    uint8_t flags;    /* enum sample_flag */
    int64_t growth;   /* of `grown` */
};

/* All zero: an empty one. */
struct census {
    const struct profile *profile; /* borrowed */
    target_id target;
    uint64_t realtime; /* ns since 1970 */
    bool of_core;      /* what a core file has, and not what is now */
    int signal;        /* that ended the VM; 0: none, or not known */
    process_id struck; /* that ran on the thread which got it; 0: none */
    struct census_process *processes;
    size_t count, room;
    bool has_growth; /* those were asked for that have grown most of this metric */
    enum metric grown;
    uint64_t left_out; /* not asked for */
    uint64_t gone;     /* ended, or were not there yet, while they were read; not in the core */
    uint64_t torn;     /* ran while they were read */
};

void census_free(struct census *census);
struct selection;
/* Leave out those that are not wanted. */
void census_keep(struct census *census, struct selection *selection);
void census_add(struct census *census, const struct census_process *process);
