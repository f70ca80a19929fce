// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of a whole VM over time: its memory, its ETS tables, its ports. A series has the readings
 * of one metric of one thing: of the VM, of an allocator, of a table, of a port. A reading holds
 * until the next one of its series.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"
#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/id_map.h"
#include "util/hash.h"

/* Recordings contain these numbers: add new metrics at the end. */
enum node_metric {
    NODE_RESIDENT,      /* bytes of the OS process in RAM */
    NODE_CARRIERS,      /* bytes that an allocator, or all of them, got from the operating system */
    NODE_BLOCKS,        /* bytes that an allocator, or all of them, gave out */
    NODE_ATOMS,         /* entries of the atom table */
    NODE_PROCESSES,     /* entries of the process table */
    NODE_PORTS,         /* entries of the port table */
    NODE_TABLES,        /* ETS tables */
    NODE_TABLE_BYTES,   /* bytes of an ETS table, or of all */
    NODE_TABLE_OBJECTS, /* objects in an ETS table, or in all */
    NODE_PORT_QUEUE,    /* bytes in the queue of a port, or of all */
    NODE_METRICS
};
const char *node_metric_name(enum node_metric metric); /* "carriers" */
enum unit node_metric_unit(enum node_metric metric);

enum {
    NODE_SERIES_MAX = 4096,     /* of a recording */
    NODE_READINGS_MAX = 1 << 19 /* that are kept of a recording, about */
};

/* The subject of a series. `of` and `id` are 0 for the whole VM. */
struct node_series_key {
    target_id target;
    uint32_t metric; /* enum node_metric */
    string_id of;    /* name of the allocator or table, driver of the port */
    string_id id;    /* "#Ref<0.1.2.3>" of the table, "#Port<0.5>"; 0: none */
};

struct node_reading {
    uint64_t time; /* ns, CLOCK_MONOTONIC, or of the joined recording */
    uint64_t value;
};

struct node_series {
    struct node_series_key key;
    process_id owner; /* of the table or port; 0: none or not known */
    struct node_reading *list;
    size_t count, room;
    /* Used while recording: value and time of the newest reading, even if it is not in the list. */
    uint64_t newest, read_at;
};

/* All zero is empty. */
struct node_metrics {
    struct node_series *of;
    size_t count, room;
    size_t readings;
    struct id_index index;
};

void node_metrics_free(struct node_metrics *metrics);

/* Return the series with this key; NULL if there is none. Valid until a series is added. */
struct node_series *node_metrics_find(const struct node_metrics *metrics,
                                      const struct node_series_key *key);
/* The same, but a missing series is added; NULL if there are NODE_SERIES_MAX. */
struct node_series *node_metrics_place(struct node_metrics *metrics,
                                       const struct node_series_key *key);

/* Add a reading of the series. If there are too many readings, each series loses every second one.
 */
void node_metrics_add(struct node_metrics *metrics, struct node_series *series, uint64_t time,
                      uint64_t value);
/* Remove the readings. The series stay. */
void node_metrics_clear(struct node_metrics *metrics);
/* Sort the readings of each series by time. */
void node_metrics_settle(struct node_metrics *metrics);

/* Return the reading that holds at `time`; before the first reading, the first. The series must
 * have readings, in order of time. */
const struct node_reading *node_metrics_series_at(const struct node_series *series, uint64_t time);

/* Encode `count` readings of a series from `first` on (recording_format.h). Decoding adds to the
 * series; on error, it sets cursor->problem. `strings`: of the recording. */
void node_metrics_encode_series(const struct node_series *series, size_t first, size_t count,
                                struct buffer *bytes);
void node_metrics_decode_series(struct node_metrics *metrics, const struct profile *profile,
                                const struct id_map *strings, struct cursor *cursor);
