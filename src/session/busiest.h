// SPDX-License-Identifier: Apache-2.0
/* Finds the process with the most samples of late, for the progress line. */
#pragma once

#include "profile/profile.h"

/* All zero is empty. */
struct busiest {
    uint32_t *samples; /* by process */
    size_t room;
    uint32_t total;
    char name[128]; /* of the process that busiest_note() found, "" if none */
    double share;   /* its share of the samples of processes */
};

void busiest_free(struct busiest *busiest);
void busiest_count(struct busiest *busiest, process_id process);
/* Find the process with the most samples since the last call. */
void busiest_note(struct busiest *busiest, const struct profile *profile);
