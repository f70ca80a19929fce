// SPDX-License-Identifier: Apache-2.0
/*
 * From one profile into another: what is equal in both gets an id in the new one. 0 stays 0.
 *
 * A VM that was attached to again, and had another number of processes by then, is the same target.
 */
#pragma once

#include "profile/profile.h"

struct carry {
    const struct profile *from;
    struct profile *to;
    const char *host; /* of targets that tell none; NULL: there is only one host */
    /* By id in `from` what has an id in `to` already; to be freed by carry_free(). */
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

/* All that a sample refers to, but for its event. */
void carry_sample(struct carry *carry, struct sample *sample);
