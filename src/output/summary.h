// SPDX-License-Identifier: Apache-2.0
/* The samples of one event as the summary sums them up, and its part of the text. */
#pragma once

#include "output/counts.h"
#include "output/long_slices.h"
#include "output/run_queues.h"
#include "output/traffic.h"
#include "output/weight.h"
#include "profile/root_frame.h"
#include "util/intern.h"

/* Processes under whatever names they had: by identity. */
struct summary_processes {
    struct intern keys;
    struct root_key *roots; /* by id in keys - 1: the process with its newest name */
};

struct summary_event {
    struct weight weight;
    uint32_t traffic_value; /* that edges of the traffic are chosen by */
    bool is_cpu, is_sched, is_wall;
    uint64_t samples, total;
    uint64_t by_status[STATUS_COUNT]; /* of wall */
    struct counts places;             /* by symbol: see summary_event_add() */
    struct counts processes;          /* by id in summary_processes */
    struct long_slices slices;        /* of sched */
    struct run_queues queues;         /* of sched */
    struct traffic traffic;           /* of messages and sched */
};

void summary_processes_init(struct summary_processes *processes);
void summary_processes_free(struct summary_processes *processes);

void summary_event_init(struct summary_event *event, const struct output_source *source,
                        event_id id);
void summary_event_free(struct summary_event *event);

/* Count a sample: of CPU time for the function it is in; of what is looked for in the VM, for the
 * Erlang function that led to it. */
void summary_event_add(struct summary_event *event, struct summary_processes *processes,
                       const struct profile *profile, const struct sample *sample);
/* What was counted of all hits in so many seconds, and where most comes from. */
void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id, double seconds);
