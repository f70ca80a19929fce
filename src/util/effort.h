// SPDX-License-Identifier: Apache-2.0
/*
 * A budget for a search through foreign data, which can be made to have no end: a number of steps,
 * and CPU time for steps that are made to be long. The search gives up when the budget is used, or
 * when the program must end (util/stop.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/clock.h"
#include "util/stop.h"

struct effort {
    uint32_t steps;   /* left */
    uint64_t cpu_end; /* CLOCK_THREAD_CPUTIME_ID, ns */
};

enum { EFFORT_CHECKED = 64 /* steps between two looks at the clocks */ };

static inline struct effort effort_of(uint32_t steps, uint32_t cpu_ms)
{
    return (struct effort){steps, clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ms * (uint64_t)1000000};
}

/* Take a step. False, then and always after, if there is none left. */
static inline bool effort_step(struct effort *effort)
{
    if (effort->steps % EFFORT_CHECKED == 0 &&
        (stop_is_overdue() || clock_ns(CLOCK_THREAD_CPUTIME_ID) > effort->cpu_end))
        effort->steps = 0;
    return effort->steps && effort->steps--;
}
