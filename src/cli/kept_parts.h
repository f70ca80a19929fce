// SPDX-License-Identifier: Apache-2.0
/* The newest parts of a recording, kept in memory: what led up to something. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct kept_part {
    int fd;              /* reads it */
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    uint64_t bytes;
};

/* All zero is empty. The oldest comes first. */
struct kept_parts {
    struct kept_part *list;
    size_t count, room;
    uint64_t bytes; /* of all */
};

/* A file in memory to record a part into. -1 with error. */
int kept_parts_file(struct error *error);

/* Takes over the descriptor. */
void kept_parts_add(struct kept_parts *parts, const struct kept_part *part);

/* Drop those that ended before this time, and the oldest ones as long as there are more bytes than
 * these. */
void kept_parts_drop(struct kept_parts *parts, uint64_t time, uint64_t bytes);

/* Drop all. */
void kept_parts_free(struct kept_parts *parts);
