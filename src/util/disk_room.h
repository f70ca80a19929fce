// SPDX-License-Identifier: Apache-2.0
/*
 * Files that grow without a known end leave room on their file system, because a full disk ends
 * other programs: 5 % of it, but at most 1 GB, and at most half of what was free at the start.
 * Files in memory take a quarter of it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct disk_room {
    uint64_t kept; /* bytes that stay free */
    uint64_t left; /* bytes that may be written before the next look */
    enum { ROOM_UNKNOWN, ROOM_LIMITED, ROOM_UNLIMITED } state;
};

/* Take room for `size` bytes that will be appended to the file. Begin with a zeroed struct. Return
 * 0, or -1 if there is none. There is no limit for files that are not regular, and on file systems
 * whose size is unknown or that were full at the start. */
int disk_room_take(struct disk_room *room, int fd, size_t size);

/* Set the error of a file that had no room: `what` could not be done. Returns -1. */
int disk_room_error(const struct disk_room *room, const char *what, struct error *error);
