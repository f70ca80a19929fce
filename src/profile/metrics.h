// SPDX-License-Identifier: Apache-2.0
/* The metrics of an Erlang process, read at a sample or in a sweep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The units of values. */

enum unit {
    UNIT_COUNT = 1,
    UNIT_NS,
    UNIT_WORDS, /* of 8 bytes */
    UNIT_BYTES,
    UNIT_END,
};
const char *profile_unit_name(enum unit unit); /* "count", "ns", ... */

/* Recordings contain these numbers: add new metrics at the end. Each comment names the item of
 * erlang:process_info/2 that has the same value while the process is at rest. */
enum metric {
    METRIC_REDUCTIONS, /* reductions */
    METRIC_MSGQ,       /* message_queue_len */
    METRIC_MBUF,       /* garbage_collection_info, mbuf_size: heap fragments */
    METRIC_HEAP,       /* total_heap_size */
    METRIC_STACK,      /* stack_size */
    METRIC_YOUNG,      /* garbage_collection_info, heap_block_size */
    METRIC_OLD,        /* garbage_collection_info, old_heap_block_size */
    METRIC_BIN_VHEAP,  /* garbage_collection_info, bin_vheap_size */
    METRIC_MINOR_GCS,  /* garbage_collection, minor_gcs: since the last major one */
    METRIC_MEMORY,     /* memory */
    METRIC_BINARIES,   /* binary: sum of the sizes, each binary once */
    METRIC_OLD_VHEAP,  /* garbage_collection_info, bin_old_vheap_size: what has survived a GC */
    METRICS,
};
#define METRICS_ALL ((1U << METRICS) - 1)

const char *metric_name(enum metric metric); /* "bin_vheap" */
enum unit metric_unit(enum metric metric);
/* Set *metric to the metric with this name; false if there is none. */
bool metric_find(const char *name, enum metric *metric);

/* The name in flame_prof, mostly the key of process_info/2 (flame_prof.erl, sample_p/3). */
const char *metric_flame_prof_name(enum metric metric); /* "bin_vheap_size" */

/* The metrics of one process. A value that is not known is 0. */
struct metrics {
    uint32_t known; /* bit 1 << enum metric */
    uint64_t values[METRICS];
};

static inline bool metrics_know(const struct metrics *metrics, enum metric metric)
{
    return metrics->known >> metric & 1;
}

static inline void metrics_set(struct metrics *metrics, enum metric metric, uint64_t value)
{
    metrics->known |= 1U << metric;
    metrics->values[metric] = value;
}
