// SPDX-License-Identifier: Apache-2.0
#include "capture/governor.h"

#include <pthread.h>
#include <stdlib.h>

#include "budget/budget.h"
#include "util/alloc.h"
#include "util/clock.h"

/* The time between two reads of this program's CPU time. The kernel adds it up over all threads,
 * and there is a thread for each VM. */
static const uint64_t OWN_TICK = 100000000; /* ns */

struct host_limit {
    pthread_mutex_t lock;
    struct host_budget *budget;
    uint64_t looked; /* when the CPU time of this program was read last */
};

struct host_limit *host_limit_new(double part)
{
    struct host_limit *limit = xcalloc(1, sizeof(*limit));

    pthread_mutex_init(&limit->lock, NULL);
    limit->budget =
        host_budget_new(part, clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return limit;
}

void host_limit_free(struct host_limit *limit)
{
    if (!limit)
        return;
    host_budget_free(limit->budget);
    pthread_mutex_destroy(&limit->lock);
    free(limit);
}

unsigned host_limit_join(struct host_limit *limit)
{
    unsigned member;

    pthread_mutex_lock(&limit->lock);
    member = host_budget_join(limit->budget);
    pthread_mutex_unlock(&limit->lock);
    return member;
}

void host_limit_leave(struct host_limit *limit, unsigned member)
{
    pthread_mutex_lock(&limit->lock);
    host_budget_leave(limit->budget, member);
    pthread_mutex_unlock(&limit->lock);
}

static void look_at_own(struct host_limit *limit)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now - limit->looked < OWN_TICK)
        return;
    host_budget_own(limit->budget, now, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    limit->looked = now;
}

double host_limit_scale(struct host_limit *limit, unsigned member, double income)
{
    double scale;

    pthread_mutex_lock(&limit->lock);
    look_at_own(limit);
    scale = host_budget_scale(limit->budget, member, income);
    pthread_mutex_unlock(&limit->lock);
    return scale;
}
