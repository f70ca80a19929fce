// SPDX-License-Identifier: Apache-2.0
/* The newest segments of a recording, kept in memory for what happened before a trigger. The code
 * calls a segment a part. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct kept_segment {
    int fd;              /* reads the segment */
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    uint64_t bytes;
};

/* All zero is empty. The oldest segment comes first. */
struct kept_segments {
    struct kept_segment *list;
    size_t count, room;
    uint64_t bytes; /* of all */
};

/* Create a file in memory to record a segment into. -1 with error. */
int kept_segments_file(struct error *error);

/* Add a segment. Takes over its descriptor. */
void kept_segments_add(struct kept_segments *segments, const struct kept_segment *segment);

/* Drop the segments that ended before `time`, and then the oldest ones while the segments have more
 * than `bytes` bytes in total. */
void kept_segments_drop(struct kept_segments *segments, uint64_t time, uint64_t bytes);

/* Drop all segments. */
void kept_segments_free(struct kept_segments *segments);
