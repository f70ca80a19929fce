// SPDX-License-Identifier: Apache-2.0
/* Moments that a user has marked while a recording was made ("deploy"). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/id_map.h"

enum {
    TIME_MARKS_MAX = 4096,     /* of a recording */
    TIME_MARK_LABEL_MAX = 200, /* bytes */
};

struct time_mark {
    uint64_t time; /* ns, CLOCK_MONOTONIC, or of the joined recording */
    string_id label;
};

/* In order of time. All zero is empty. */
struct time_marks {
    struct time_mark *list;
    size_t count, room;
};

/* Add a mark at its place. One that exceeds TIME_MARKS_MAX is left out. */
void time_marks_add(struct time_marks *marks, const struct time_mark *mark);
/* Remove all. */
void time_marks_clear(struct time_marks *marks);
void time_marks_free(struct time_marks *marks);

/* Encode to bytes (recording_format.h). Decoding adds marks; on error, it sets cursor->problem.
 * `strings`: of the recording. */
void time_marks_encode(const struct time_marks *marks, struct buffer *bytes);
void time_marks_decode(struct time_marks *marks, const struct id_map *strings,
                       struct cursor *cursor);
