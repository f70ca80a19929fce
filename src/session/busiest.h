// SPDX-License-Identifier: Apache-2.0
/* Which process had the most samples of late: for the line that shows progress. */
#pragma once

#include "profile/profile.h"

/* All zero is empty. */
struct busiest {
    uint32_t *samples; /* by process */
    size_t room;
    uint32_t total;
    char name[128]; /* of the one that busiest_note() found, "" if none */
    double share;   /* it had of the samples of processes */
};

void busiest_free(struct busiest *busiest);
void busiest_count(struct busiest *busiest, process_id process);
/* Find who it was since this was last called. */
void busiest_note(struct busiest *busiest, const struct profile *profile);
