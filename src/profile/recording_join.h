// SPDX-License-Identifier: Apache-2.0
/*
 * Several recordings as one: parts that one session made, recordings of one VM from different days,
 * or those of several hosts.
 *
 * What is equal is one thing: a VM in two of them is one target, unless they are of different
 * hosts. What was counted is the sum. Events may differ, but those of one name must count the same:
 * so CPU samples must be of one frequency, else ERROR_FAILED.
 */
#pragma once

#include "profile/recording.h"

struct join_part {
    int fd;           /* reads it from its start */
    const char *name; /* for messages */
};

/* Where the times of a part are among those of the others. */
enum join_order {
    /* When it was: by the clock of the host, or by real time where hosts differ, or one has been
     * started again. A part of which that is not known begins with the first one. */
    JOIN_BY_TIME,
    /* In the order that they are given in, each `gap_ns` after the end of the one before it. */
    JOIN_IN_TURN,
};

struct join_options {
    enum join_order order;
    uint64_t gap_ns;
    const char *occasion; /* what the whole was made for; NULL: what they were */
    uint64_t *starts;     /* room for one of each part: when it begins in the whole, ns by its
                             clock; NULL: not asked for */
};

/* Write all parts to `fd`, and hand out what reads that as recording_finish() does: on failure too,
 * for where a part is damaged, what was written of it and all others is valid. All descriptors are
 * taken over, also on failure. */
int recording_join(const struct join_part *parts, size_t count, const struct join_options *options,
                   int fd, int *ret_fd, struct error *error);
