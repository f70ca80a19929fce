// SPDX-License-Identifier: Apache-2.0
/*
 * Joins several recordings: segments that one session recorded, recordings of one VM from different
 * days, or recordings of several hosts.
 *
 * Equal entries become one: a VM in two recordings is one target, unless their hosts differ. Counts
 * are added up. The recordings may have different events. Events of the same name must have the
 * same values, and CPU samples must have the same clock; else ERROR_FAILED. Their frequencies may
 * differ, because each sample has its time: the joined recording has the highest.
 */
#pragma once

#include "profile/alike_frames.h"
#include "recording/recording.h"

struct join_part {
    int fd;           /* reads the recording from its start */
    const char *name; /* for messages */
};

/* How the times of the parts are aligned. */
enum join_order {
    /* By the actual time: by the clock of the host, or by real time if the hosts differ or the host
     * was rebooted. A part whose real time is unknown begins together with the first one. */
    JOIN_BY_TIME,
    /* In the given order: each part begins `gap_ns` after the end of the part before it. */
    JOIN_IN_TURN,
};

struct join_options {
    enum join_order order;
    uint64_t gap_ns;
    const char *trigger;              /* of the joined recording; NULL: as in the parts */
    const struct alike_frames *alike; /* of the parts; NULL: their frames keep their names */
    uint64_t *starts; /* out: start of each part, ns in joined time; NULL: not needed */
    /* Raised for each part that is no recording, and is left out. NULL: such a part is an error, as
     * it is if no other part is left. Not together with `starts`. */
    unsigned *unreadable;
};

/* Write all parts to `fd`. *ret_fd reads the result, as in recording_finish(); also on failure: if
 * a part is damaged, its samples before the damage and all other parts are valid. Takes ownership
 * of all descriptors, also on failure. */
int recording_join(const struct join_part *parts, size_t count, const struct join_options *options,
                   int fd, int *ret_fd, struct error *error);
