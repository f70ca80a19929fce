// SPDX-License-Identifier: Apache-2.0
/*
 * Names of frames that were recorded without one: native functions whose debug file arrived while
 * the recording ran. They stand behind the frames in the file, so a reader takes them first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

enum { LATE_NAMES_BYTES_MAX = 1 << 19 }; /* of all names */

struct late_name {
    frame_id frame;  /* its number in the recording; comes first (util/sorted.h) */
    uint64_t before; /* bytes from the start of the function to the frame's address */
    char *symbol;
};

/* In order of frames. All zero is empty. */
struct late_names {
    struct late_name *list;
    size_t count, room;
    size_t bytes; /* of all names */
};

/* Copies `symbol`, which is not empty. False if there is no room. A frame that has a name keeps
 * it. */
bool late_names_add(struct late_names *names, frame_id frame, uint64_t before, const char *symbol);
void late_names_free(struct late_names *names);

/* The name of a frame, or NULL. */
const struct late_name *late_names_find(const struct late_names *names, frame_id frame);

/* Encode to bytes (recording_format.h). Decoding is into an empty list; on error, it sets
 * cursor->problem. The frames are not checked. */
void late_names_encode(const struct late_names *names, struct buffer *bytes);
void late_names_decode(struct late_names *names, struct cursor *cursor);
