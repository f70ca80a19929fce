// SPDX-License-Identifier: Apache-2.0
/*
 * The spool: a directory with the newest recordings of the agent. `beamflame report` reads them.
 * They stay until the spool is too large or they are too old, also after they were sent: what a
 * service could not take waits here, across restarts of the agent.
 *
 *   agent-HOST-20261124-101500.bfr    a recording, complete
 *   SERVICE.sent                      which of them a service has, in lines: NAME all, or NAME 3
 *                                     if it has the first three profiles; the last one counts
 *   spool.order                       the recordings in the order in which they came, also if the
 *                                     clock was set back meanwhile: lines NAME 1, NAME 2...
 *   lock                              the agent that uses the spool
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "util/error.h"

#define SPOOL_SENT ".sent"

/* Make the directory if it does not exist, and lock it. Recordings that a killed agent has left
 * become complete. Return a descriptor that holds the lock, or -1 with error. */
int spool_open(const char *directory, struct error *error);

/* Complete the recordings whose process was killed before it completed them. Return 0, or -1 with
 * error. */
int spool_adopt(const char *directory, struct error *error);

/* The path to record to, from which segments get their names. To be freed. */
char *spool_recording_path(const char *directory);

/* The names of recordings, oldest first; and their sizes and ages. A recording is at least as old
 * as those that came later: if the clock was set back, its own time may be in the future. */
struct spool_list {
    struct spool_entry {
        char *name;
        size_t place; /* in the order; SIZE_MAX: it has come since spool_note_order() */
        uint64_t bytes;
        double age;          /* seconds since it was complete */
        time_t began, ended; /* since 1970, as the clock was then */
    } * of;
    size_t count;
};
int spool_list(const char *directory, struct spool_list *ret_list, struct error *error);
void spool_list_free(struct spool_list *list);

/* The state of the directory at the last look. All zero: never. */
struct spool_glance {
    struct timespec changed; /* the last change of the directory */
    uint64_t time;           /* CLOCK_MONOTONIC */
};
/* Return false if no recording has come or gone since the last call that returned true. Two changes
 * can have the same time, and what services have can change without one of the directory. So it is
 * true again after 5 s at most. */
bool spool_may_have_changed(const char *directory, struct spool_glance *glance);

/* Note the order of new recordings, for later and for other processes. Call this several times in
 * the time of a recording. */
void spool_note_order(const char *directory);

/* True if the directory has no room, and no quota, for a recording: the largest recording there is
 * the measure. False if it has, or if that can't be found out. */
bool spool_is_full(const char *directory);

/* Remove the oldest recording, if there is one. `removed` is called for it. Return true if it was
 * removed. */
bool spool_remove_oldest(const char *directory, void (*removed)(void *context, const char *name),
                         void *context);

/* Remove the oldest recordings until the others have at most `max_bytes`, and those that are older
 * than `max_age` seconds. `removed` is called for each. */
void spool_trim(const char *directory, uint64_t max_bytes, double max_age,
                void (*removed)(void *context, const char *name), void *context);
