// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps recordings of the spool for triggers: a folder for each firing, with the recordings of the
 * time before and after. They are hard links, or copies where links can't be made.
 *
 *   kept/TRIGGER.NODE.20261124-101500/agent-HOST-20261124-101445.bfr
 *
 * The limits of the spool do not count or remove them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "util/error.h"

/* Room for names; the folder is "TRIGGER.NODE.20261124-101500". */
enum { KEPT_TRIGGER_ROOM = 65, KEPT_NODE_ROOM = 96, KEPT_FOLDER_ROOM = 180 };

struct kept_firing {
    char trigger[KEPT_TRIGGER_ROOM], node[KEPT_NODE_ROOM]; /* the node as in names of files */
    char folder[KEPT_FOLDER_ROOM];                         /* in kept/; kept_begin() sets it */
    time_t from, until;        /* the time of which recordings are kept, since 1970 */
    uint64_t end;              /* CLOCK_MONOTONIC: no recording of that time comes any more */
    uint64_t bytes, max_bytes; /* kept, and at most */
    size_t place;              /* of the newest recording that was looked at (agent/spool.h) */
};

/* Make the folder of a firing at the time `at`. -1 with error. */
int kept_begin(const char *spool, struct kept_firing *firing, time_t at, struct error *error);

/* Keep the recordings of the spool that overlap the firing's time and are not kept yet. Call
 * `left_out` for each that can't be kept. */
void kept_take(const char *spool, struct kept_firing *firing,
               void (*left_out)(void *context, const char *recording, const struct error *error),
               void *context);

/* Remove the oldest folders of a trigger until there are at most `max_count`, with at most
 * `max_bytes`. `removed` is called with the node of each. */
void kept_trim(const char *spool, const char *trigger, size_t max_count, uint64_t max_bytes,
               void (*removed)(void *context, const char *node, const char *folder), void *context);
