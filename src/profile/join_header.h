// SPDX-License-Identifier: Apache-2.0
/* The header of a recording that is made of several. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/recording.h"

/* A header that owns its texts. */
struct join_header {
    struct recording_header header;
    char *hostname, *kernel, *command, *version, *occasion;
    bool several_hosts;
};

/* All that is told of `headers`, each text once; start, frequency and event are those of `base`. */
void join_header_make(struct join_header *joined, const struct recording_header *const *headers,
                      size_t count, const struct recording_header *base);
void join_header_free(struct join_header *joined);

/* The header whose recording began first, of those of which that is known. */
const struct recording_header *join_header_first(const struct recording_header *const *headers,
                                                 size_t count);

/* What is added to times of one recording (wrapping) to have them by the clock of another: nothing
 * if it is the same clock, else by real time; where that is not known they begin together. */
uint64_t join_header_shift(const struct recording_header *base,
                           const struct recording_header *header);
