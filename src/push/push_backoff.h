// SPDX-License-Identifier: Apache-2.0
/* How long to wait before a request is sent again. */
#pragma once

#include "push/push_client.h"

struct push_backoff {
    unsigned failures; /* in a row */
};

/* Return the seconds to wait after a reply, 0 after an accepted or refused one: 1 s, doubled after
 * each failure up to 60 s, of which a random half is left out, so that agents do not come all at
 * once. They are added to what the service asks, up to an hour. `random`: 0 to 1. */
double push_backoff_wait(struct push_backoff *backoff, const struct push_reply *reply,
                         double random);
