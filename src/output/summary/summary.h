// SPDX-License-Identifier: Apache-2.0
/* The summary of one event: sums over its samples, and its part of the text. */
#pragma once

#include "output/rows.h"
#include "output/summary/long_schedules.h"
#include "output/summary/run_queues.h"
#include "output/summary/traffic_table.h"
#include "output/weight.h"
#include "view/root_frame.h"
#include "util/intern.h"

/* Processes by identity, whatever names they had. */
struct summary_processes {
    struct intern keys;
    struct root_key *roots; /* by id in keys - 1: the process with its newest name */
};

struct summary_event {
    struct weight weight;
    bool is_cpu, is_sched, is_wall;
    bool has_intervals;   /* of rows; set before they are written */
    uint64_t samples;     /* those of one hit count once */
    struct row left_out;  /* of the whole: not in `places` (output/idle.h) */
    struct rows statuses; /* shown for wall */
    struct row_whole whole;
    struct rows places;           /* by symbol: see summary_event_add() */
    struct rows processes;        /* by id in summary_processes */
    struct long_schedules slices; /* of sched */
    struct run_queues queues;     /* of sched */
    struct traffic_table traffic; /* of msg and sched */
};

void summary_event_processes_init(struct summary_processes *processes);
void summary_event_processes_free(struct summary_processes *processes);

void summary_event_init(struct summary_event *event, const struct output_source *source,
                        event_id id);
void summary_event_free(struct summary_event *event);

/* Add a sample. A sample of event cpu counts for the function at its leaf. A sample of another
 * event counts for the Erlang function nearest to the leaf, which led to the event in the VM. A
 * sample that graphs leave out counts for no function. */
void summary_event_add(struct summary_event *event, struct summary_processes *processes,
                       const struct output_source *source, const struct sample *sample);
/* Write the event's counts over all hits, and its functions and processes with the greatest sums.
 * `totals` are those of the recording. */
void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id,
                         const struct recording_totals *totals);
