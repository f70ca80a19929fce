// SPDX-License-Identifier: Apache-2.0
/*
 * What a waiting process waits for: any message in its main loop (idle), or the end of a call
 * (blocked). The names of the functions on its stack tell. Where they do not, it is only waiting.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Statuses by stack of one profile, so that names are compared once for each stack. All zero is
 * empty. */
struct waiting {
    uint8_t *by_stack; /* enum process_status; 0: not known yet */
    size_t room;
};

/* Forget everything: the next stacks are of another profile. */
void waiting_reset(struct waiting *waiting);

/* The status of a process that waits with this stack: STATUS_IDLE, STATUS_BLOCKED, or
 * STATUS_WAITING if the stack does not show which. `has_messages`: its queue has messages, which
 * its receive does not take. */
enum process_status waiting_status(struct waiting *waiting, const struct profile *profile,
                                   stack_id stack, bool has_messages);
