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

enum { SUMMARY_ROWS = 10 };

/* How much of its tables a summary has. */
struct summary_extent {
    size_t rows;  /* of each table, at most SUMMARY_ROWS */
    bool is_full; /* else it has no histograms, run queues or pairs of sender and receiver, no table
                   * without a row that is sure, and the schedulers as one */
};

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
                          const struct long_schedules *slices, size_t rows,
                          uint64_t start_monotonic);

/* ---- summary_growth.c ---- */

/* What grows in processes, by the metrics of their samples. */

enum growth_kind {
    GROWTH_QUEUE,    /* messages */
    GROWTH_MEMORY,   /* bytes, as all below */
    GROWTH_HEAPS,    /* the young and the old heap */
    GROWTH_BINARIES, /* that the process refers to */
    GROWTH_KINDS,
};

struct growth_range {
    uint64_t first, last, lowest, highest;
    uint64_t fallen;  /* the sum of all decreases */
    uint32_t samples; /* that know the metric */
};

/* Add the next value. */
void growth_range_add(struct growth_range *range, uint64_t value);

/* True if the value has risen by `least` or more, from near its lowest to near its highest. So
 * a queue that was long once has not grown. */
bool growth_range_is_growth(const struct growth_range *range, uint64_t least);

/* The same for memory, which also must have fallen little: a heap that grows until its next
 * collection has not grown. */
bool growth_range_is_growth_of_memory(const struct growth_range *range);

/* All zero is empty. */
struct summary_growth {
    struct growth_process {
        struct growth_range kinds[GROWTH_KINDS];
    } * of; /* by id in summary_processes */
    size_t room;
};

void summary_growth_free(struct summary_growth *growth);
void summary_growth_add(struct summary_growth *growth, uint32_t id, const struct metrics *metrics);

/* Return the process that has grown most; 0 if none has grown beyond chance. */
uint32_t summary_growth_find(const struct summary_growth *growth, enum growth_kind kind);
/* Return the process whose queue was the longest at a sample; 0 if no queue is known. */
uint32_t summary_growth_longest_queue(const struct summary_growth *growth);

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

/* Write the tables, if not full without that of senders and receivers of messages; nothing if there
 * are no edges. `seconds` is the
 * duration, for rates. `is_part`: samples were not selected. */
void traffic_table_write(FILE *file, struct traffic_table *table,
                         const struct output_source *source, event_id event,
                         const struct summary_extent *extent, double seconds, bool is_part);

/* ---- summary_event.c ---- */

/* The summary of one event: sums over its samples, and its part of the text. */

/* Processes by identity, whatever names they had. */
struct summary_processes {
    struct intern keys;
    struct root_key *roots; /* by id in keys - 1: the process with its newest name */
};

struct summary_event {
    struct weight weight;
    bool is_cpu, is_sched, is_wall, is_call;
    bool has_intervals;   /* of rows; set before they are written */
    uint64_t samples;     /* samples of one hit count once */
    struct row left_out;  /* of the whole: not in `places` (output/idle.c) */
    struct rows statuses; /* shown for wall */
    struct row_whole whole;
    struct rows places;    /* by symbol: see summary_event_add() */
    struct rows erlang;    /* of cpu, by symbol: of the Erlang function nearest to the leaf */
    struct row gc;         /* of cpu: collections */
    struct rows processes; /* by id in summary_processes */
    struct rows tables;    /* by symbol: ETS tables at the leaf */
    struct long_schedules slices; /* of sched */
    struct run_queues queues;     /* of sched */
    struct traffic_table traffic; /* of msg and sched */
};

void summary_event_processes_init(struct summary_processes *processes);
void summary_event_processes_free(struct summary_processes *processes);

void summary_event_init(struct summary_event *event, const struct output_source *source,
                        event_id id);
void summary_event_free(struct summary_event *event);

/* Return the id of the sample's process, which it must have. */
uint32_t summary_event_process(struct summary_processes *processes, const struct profile *profile,
                               const struct sample *sample);

/* Add a sample of the process with this id, 0 for none. A sample of event cpu counts for the
 * function at its leaf. A sample of another event counts for the Erlang function nearest to the
 * leaf, which led to the event in the VM. A sample that graphs leave out counts for no function. */
void summary_event_add(struct summary_event *event, uint32_t process,
                       const struct output_source *source, const struct sample *sample);

/* Return what is known of the event's total, and set event->has_intervals. */
struct row_cover summary_event_cover(struct summary_event *event,
                                     const struct output_source *source, event_id id,
                                     const struct recording_totals *totals);

/* Append the pid and the name of a process, and of several VMs its node. */
void summary_event_process_text(const struct profile *profile, const struct root_key *root,
                                const char *between, struct buffer *text);

/* Write the event's counts over all hits, and its functions, tables and processes with the greatest
 * sums. `totals` are the recording's. */
void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id,
                         const struct recording_totals *totals,
                         const struct summary_extent *extent);

/* ---- event_counts.c ---- */

/* Write the event's counts over all hits, behind its number of samples: totals, and if `is_full`
 * histograms. `is_part`: samples were not selected; then the sum of the selected ones comes first.
 */
void event_counts_write(FILE *file, const struct profile *profile,
                        const struct summary_event *event, const struct event_summary *summary,
                        bool is_part, bool is_full);

/* ---- microstate_table.c ---- */

/* Write a table for people: the microstates of threads in percent of the time. All schedulers of a
 * VM share a line. If `is_full`, each scheduler has a line too; of many schedulers only the busiest
 * have one, the others share one. The threads of each other type share a line. Rows of the same VM
 * and type must be neighbours. Write nothing if there are no rows. */
void microstate_table_write(FILE *file, const struct profile *profile,
                            const struct microstate_row *rows, size_t count, bool is_full);

/* ---- node_table.c ---- */

/* Metrics of whole VMs (profile/node_metrics.h) as text: the greatest changes. */

/* Write each VM's own metrics, if not `is_full` those that have changed, and its allocators, tables
 * and ports with the greatest changes in the selected time. Writes nothing if no metrics were
 * recorded. */
void node_table_write(FILE *file, const struct output_source *source,
                      const struct recording_totals *totals, const struct summary_extent *extent);

/* The metric that has grown most, of those in bytes: of an allocator, table or port, else of the
 * VM. The numbers are those of the table. */
struct node_growth {
    const struct node_series *series; /* NULL: none has grown */
    struct growth_range range;
};
struct node_growth node_table_growth(const struct output_source *source,
                                     const struct recording_totals *totals);

/* Append the name of a series, as in the table. */
void node_table_name(const struct profile *profile, const struct node_series *series,
                     struct buffer *text);

/* ---- verdict.c, next_command.c ---- */

/* What the summary begins with: what to look at first. */
struct verdict {
    const struct output_source *source;
    const struct recording_totals *totals;
    struct summary_event *events; /* by event id - 1 */
    const struct summary_processes *processes;
    const struct summary_growth *growth;
    const struct microstate_row
        *threads; /* of the times of threads; none if samples are left out */
    size_t thread_count;
    event_id lead; /* whose processes and functions the verdict names; 0: none */
};

/* Write at most five lines and an empty one, or nothing if there is nothing to say. */
void verdict_write(FILE *file, struct verdict *verdict);

/* The share of the time in which the schedulers of a VM were busy, in percent; -1 if not known. */
double verdict_busy(const struct verdict *verdict, target_id target);

/* What the verdict has found, by importance, for the next command. All zero is nothing. */
struct verdict_findings {
    uint32_t queue;          /* the process whose queue has grown; 0: none */
    uint32_t process;        /* the process that has grown in another way, 0: none */
    enum growth_kind kind;   /* in which way */
    struct node_growth node; /* of the VM */
    uint32_t busiest;        /* process; 0: none, or not sure */
    double busy;             /* as verdict_busy(), of `target` */
    double gc;               /* share of collections in the CPU time, in percent */
    target_id target;        /* that the command is about */
};

/* Append the command to run next, with a comment: "sudo beamflame dump -p 4711 --top 10:msgq".
 * Append nothing if none follows from the recording. */
void next_command_text(const struct verdict *verdict, const struct verdict_findings *findings,
                       struct buffer *text);
