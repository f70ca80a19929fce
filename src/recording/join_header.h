// SPDX-License-Identifier: Apache-2.0
/* The header of a recording that joins several recordings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "recording/recording.h"

/* A header and the texts that it owns; header.event is borrowed. */
struct join_header {
    struct recording_header header;
    char *hostname, *kernel, *command, *version, *trigger;
    bool several_hosts;
};

/* Combine `headers`: each text once, and the CPUs of each host once. Start, frequency and event are
 * those of `base`. */
void join_header_make(struct join_header *joined, const struct recording_header *const *headers,
                      size_t count, const struct recording_header *base);
void join_header_free(struct join_header *joined);

/* The header of the recording that began first. Headers without a start time are ignored, unless
 * none has one. */
const struct recording_header *join_header_first(const struct recording_header *const *headers,
                                                 size_t count);

/* The offset (wrapping) that turns times of `header` into times of `base`. It is 0 if both have the
 * same clock; else it follows from real time. If that is not known, both recordings begin together.
 */
uint64_t join_header_shift(const struct recording_header *base,
                           const struct recording_header *header);
