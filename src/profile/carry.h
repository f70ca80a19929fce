// SPDX-License-Identifier: Apache-2.0
/*
 * Copies entries of one profile into another. An entry that is equal to one in the new profile gets
 * the id of that one. Id 0 stays 0.
 *
 * A target that was attached to twice is one target, even if its number of processes has changed.
 */
#pragma once

#include "profile/profile.h"

struct carry {
    const struct profile *from;
    struct profile *to;
    const char *host; /* given to targets without a host; NULL: none is given */
    /* Ids in `to`, indexed by the id in `from`; 0: not copied yet. Freed by carry_free(). */
    struct carried {
        uint32_t *ids;
        size_t room;
    } stacks, processes, threads;
};
void carry_free(struct carry *carry);

string_id carry_string(struct carry *carry, string_id id);
target_id carry_target(struct carry *carry, target_id id);
thread_id carry_thread(struct carry *carry, thread_id id);
event_id carry_event(struct carry *carry, event_id id);

/* Replace all ids of the sample by those in `to`, except that of its event. */
void carry_sample(struct carry *carry, struct sample *sample);
