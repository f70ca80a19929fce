// SPDX-License-Identifier: Apache-2.0
/*
 * Copies entries of one profile into another. An entry that is equal to one in the new profile gets
 * the id of that one. Id 0 stays 0.
 *
 * A target that was attached to twice is one target, even if its number of processes has changed.
 */
#pragma once

#include "profile/alike_frames.h"
#include "profile/profile.h"

struct profile_remap {
    const struct profile *from;
    struct profile *to;
    const char *host;                 /* given to targets without a host; NULL: none is given */
    const struct alike_frames *alike; /* whose frames get their common names; NULL: none do */
    /* Ids in `to`, indexed by the id in `from`; 0: not copied yet. Freed by profile_remap_free().
     */
    struct carried {
        uint32_t *ids;
        size_t room;
    } stacks, processes, threads, targets;
};
void profile_remap_free(struct profile_remap *remap);

string_id profile_remap_string(struct profile_remap *remap, string_id id);
target_id profile_remap_target(struct profile_remap *remap, target_id id);
process_id profile_remap_process(struct profile_remap *remap, process_id id);
thread_id profile_remap_thread(struct profile_remap *remap, thread_id id);
event_id profile_remap_event(struct profile_remap *remap, event_id id);

/* Replace all ids of the sample, except the event's, by ids in `to`. */
void profile_remap_sample(struct profile_remap *remap, struct sample *sample);
