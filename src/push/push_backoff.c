// SPDX-License-Identifier: Apache-2.0
#include "push/push_client.h"

#include <math.h>

enum { DOUBLINGS = 6, LONGEST = 60, LONGEST_ASKED = 3600 };

double push_backoff_wait(struct push_backoff *backoff, const struct push_reply *reply,
                         double random)
{
    double wait, asked = reply->retry_after;

    if (reply->outcome != PUSH_LATER) {
        backoff->failures = 0;
        return 0;
    }
    wait = fmin(LONGEST, (double)(1u << backoff->failures));
    if (backoff->failures < DOUBLINGS)
        backoff->failures++;
    /* A service that asks all agents to wait as long would else have them all at once. */
    return wait * (1 - random / 2) + (asked > 0 ? fmin(LONGEST_ASKED, asked) : 0);
}
