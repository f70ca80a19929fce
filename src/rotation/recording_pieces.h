// SPDX-License-Identifier: Apache-2.0
/* A recording that was paused, or of which a snapshot was written, is made in pieces: each from a
 * begin to a pause or snapshot, or to the end. They are joined at the end. The time between two
 * pieces is a gap: nothing stands for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "session/options.h"
#include "util/error.h"

/* Where a recording is made. */
struct recording_place {
    const char *path;      /* NULL: it gets no name */
    const char *temporary; /* directory for what has no name */
};

/* All zero is empty. */
struct recording_pieces {
    int *fds; /* each reads a piece */
    size_t count, room;
    uint64_t bytes; /* of all */
};

/* Takes over `fd`; -1: the piece can't be read, and is left out. */
void recording_pieces_add(struct recording_pieces *pieces, int fd, uint64_t bytes);

/* Duplicates of the descriptors of the pieces, to be freed. NULL with error. */
int *recording_pieces_duplicate(const struct recording_pieces *pieces, struct error *error);

/* Free the pieces. Return a descriptor that reads the recording: its only piece, or all of them,
 * joined into a file that gets the name; -1 without pieces, or with error. Pieces that can't be
 * joined are kept in the directory: `warn` says where. */
int recording_pieces_take(struct recording_pieces *pieces, const struct recording_place *place,
                          warn_function warn, struct error *error);
