// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share: the parts of a summary. */
#pragma once

#include <stdio.h>

#include "output/counts.h"
#include "output/output.h"
#include "output/rows.h"
#include "output/traffic.h"
#include "output/weight.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "util/intern.h"
#include "view/root_frame.h"

/* ---- long_schedules.c ---- */

/*
 * The longest of the slices that event sched saw as long schedules. A slice is put together from
 * the samples that were taken in it; the last of them has another status than `running`.
 */

enum { LONG_SLICES_MAX = 10 };

struct long_schedule {
    uint64_t end, ns;
    process_id process;
    stack_id stack; /* of the sample that stands for the most time, `stack_ns` */
    uint64_t stack_ns;
};

struct long_schedules {
    struct long_schedule *open; /* unfinished slices, by thread id */
    size_t open_count;
    struct long_schedule longest[LONG_SLICES_MAX]; /* the longest first */
    uint32_t count;
    uint64_t slices; /* seen in all */
};

void long_schedules_free(struct long_schedules *slices);

/* Add a sample of a long slice. */
void long_schedules_add(struct long_schedules *slices, const struct sample *sample);

/* Finish the slices whose end was not seen. */
void long_schedules_finish(struct long_schedules *slices);

/* Write the longest slices as text, each with its stack. Their times are relative to
 * `start_monotonic` (ns). */
void long_schedules_write(FILE *file, const struct profile *profile,
                          const struct long_schedules *slices, uint64_t start_monotonic);

/* ---- run_queues.c ---- */

/*
 * Run queues, from samples of event sched: how often a process left a queue to run, and how long it
 * was in the queue. The scheduler that ran the process determines the queue: a normal scheduler has
 * its own queue, dirty schedulers of a kind share one.
 */

struct run_queues {
    struct intern keys;
    struct counts turns, delays, samples; /* by id in keys */
};

void run_queues_init(struct run_queues *queues);
void run_queues_free(struct run_queues *queues);

/* `is_of_hit`: the sample is of the same hit as the one before, and does not count again. */
void run_queues_add(struct run_queues *queues, const struct profile *profile,
                    const struct sample *sample, bool is_of_hit);

/* Write the queues with the most delay as a table of the summary; nothing if none has a delay. */
void run_queues_write(FILE *file, const struct profile *profile, const struct run_queues *queues);

/* ---- traffic_table.c ---- */

/* Traffic as tables of the summary: who sends to whom and who receives, or who wakes whom. */

struct traffic_table {
    struct traffic traffic;
    bool has_peers; /* else the event has no traffic */
    uint32_t value; /* by which rows are chosen and sorted */
    struct row_whole whole;
    struct row_cells cells; /* by preliminary edge */
};

void traffic_table_init(struct traffic_table *table, const struct output_source *source,
                        event_id event);
void traffic_table_free(struct traffic_table *table);
void traffic_table_add(struct traffic_table *table, const struct sample *sample);

/* Write the tables; nothing if there are no edges. `seconds` is the duration, for rates. `is_part`:
 * samples were not selected. */
void traffic_table_write(FILE *file, struct traffic_table *table,
                         const struct output_source *source, event_id event, double seconds,
                         bool is_part);

/* ---- summary_event.c ---- */

/* The summary of one event: sums over its samples, and its part of the text. */

/* Processes by identity, whatever names they had. */
struct summary_processes {
    struct intern keys;
    struct root_key *roots; /* by id in keys - 1: the process with its newest name */
};

struct summary_event {
    struct weight weight;
    bool is_cpu, is_sched, is_wall;
    bool has_intervals;   /* of rows; set before they are written */
    uint64_t samples;     /* samples of one hit count once */
    struct row left_out;  /* of the whole: not in `places` (output/idle.c) */
    struct rows statuses; /* shown for wall */
    struct row_whole whole;
    struct rows places;           /* by symbol: see summary_event_add() */
    struct rows processes;        /* by id in summary_processes */
    struct rows tables;           /* by symbol: ETS tables at the leaf */
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
/* Write the event's counts over all hits, and its functions, tables and processes with the greatest
 * sums.
 * `totals` are the recording's. */
void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id,
                         const struct recording_totals *totals);

/* ---- microstate_table.c ---- */

/* Write a table for people: the microstates of threads in percent of the time. Each scheduler has a
 * line; of many schedulers only the busiest have one, the others share one. The threads of each
 * other type share a line. Rows of the same VM and type must be neighbours. Write nothing if there
 * are no rows. */
void microstate_table_write(FILE *file, const struct profile *profile,
                            const struct microstate_row *rows, size_t count);

/* ---- node_table.c ---- */

/* Metrics of whole VMs (profile/node_metrics.h) as text: the greatest changes. */

/* Write each VM's own metrics, and its allocators, tables and ports with the greatest changes in
 * the selected time. Writes nothing if no metrics were recorded. */
void node_table_write(FILE *file, const struct output_source *source,
                      const struct recording_totals *totals);
