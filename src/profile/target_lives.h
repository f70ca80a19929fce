// SPDX-License-Identifier: Apache-2.0
/* What kept the targets of a recording from running: they ended, or were stopped (SIGSTOP, a
 * debugger). */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

struct target_life {
    target_id target;    /* comes first (util/sorted.h) */
    uint64_t ended;      /* ns, CLOCK_MONOTONIC; 0: it ran until the recording ended */
    uint64_t stopped_ns; /* time for which it was stopped */
};

/* Only of targets that ended or were stopped, in order of their ids. All zero is empty. */
struct target_lives {
    struct target_life *list;
    size_t count, room;
};

/* The life of a target, added if it is absent. */
struct target_life *target_life_of(struct target_lives *lives, target_id target);
/* The same; NULL if it is absent. */
const struct target_life *target_lives_find(const struct target_lives *lives, target_id target);
void target_lives_free(struct target_lives *lives);

/* Encode to bytes (recording_format.h), and decode. Decoding replaces the content; on error, it
 * sets cursor->problem. */
void target_lives_encode(const struct target_lives *lives, struct buffer *bytes);
void target_lives_decode(struct target_lives *lives, const struct profile *profile,
                         struct cursor *cursor);
