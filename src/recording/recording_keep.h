// SPDX-License-Identifier: Apache-2.0
/* Saves a recording without a name in a folder, or whose name was removed. */
#pragma once

#include <stdbool.h>

#include "util/error.h"

struct file_fence; /* os/fence.h */

/* Where recordings without a name are made and kept, the first choice first: the directory of
 * temporary files, or another if that can't be written. */
#define RECORDING_PLACES(directory)                                                                \
    {                                                                                              \
        directory, "/var/tmp", "/tmp"                                                              \
    }

/* Permit to write there. */
void recording_keep_permit_places(struct file_fence *fence, const char *directory);

/* True if `path` is the name of the open recording `fd`. */
bool recording_keep_is_at(const char *path, int fd);

/* Give the recording `fd`, which is complete, the name beamflame-PID-TIME.bfr in the first of
 * RECORDING_PLACES(directory) that can be written. Only this user can read it if it had no name.
 * Return its path, to be freed, or NULL with error. */
char *recording_keep(int fd, const char *directory, struct error *error);

/* Remove the file of a recording that could not begin, if it is empty. */
void recording_keep_remove_empty(const char *path);
