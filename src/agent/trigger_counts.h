// SPDX-License-Identifier: Apache-2.0
/*
 * Counts how often each trigger has fired at each node, in memory that the processes of the agent
 * share. The process that records writes it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/kept.h"

enum { TRIGGER_COUNTS_MAX = 256 };

struct trigger_count {
    char trigger[KEPT_TRIGGER_ROOM], node[KEPT_NODE_ROOM]; /* written before it is shown */
    _Atomic bool is_shown;
    _Atomic uint64_t fired;
    _Atomic uint64_t dropped;  /* kept firings that were removed, because of a limit */
    _Atomic uint64_t left_out; /* recordings that could not be kept */
    uint64_t fired_at;         /* CLOCK_MONOTONIC, ns; 0: never */
};

/* All zero is empty. */
struct trigger_counts {
    struct trigger_count of[TRIGGER_COUNTS_MAX];
};

/* Return the counts of a trigger at a node, or NULL if there are none. */
struct trigger_count *trigger_counts_find(struct trigger_counts *counts, const char *trigger,
                                          const char *node);

/* Return the counts of a trigger at a node. `node` is its name as in names of files. If there is no
 * room, replace the counts of the longest time without a firing. */
struct trigger_count *trigger_counts_of(struct trigger_counts *counts, const char *trigger,
                                        const char *node);
