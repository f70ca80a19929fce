// SPDX-License-Identifier: Apache-2.0
/* One recording of several that one session made, each beginning where the one before it ended. */
#pragma once

#include "profile/recording.h"

/* Read `count` recordings from their descriptors, in order, and write them as one to `fd`: samples,
 * counts, histograms and times of threads of all. All descriptors are taken over, also on failure.
 * `occasion`: what it was made for, for its header. What reads it is handed out as
 * recording_finish() does. */
int recording_join(const int *fds, size_t count, const char *occasion, int fd, int *ret_fd,
                   struct error *error);
