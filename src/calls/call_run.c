// SPDX-License-Identifier: Apache-2.0
#include "calls/call_run.h"

#include <time.h>

#include "util/clock.h"
#include "util/stop.h"

#define SECOND_NS ((uint64_t)1000000000)

static void sleep_until(uint64_t until)
{
    struct timespec time = {.tv_sec = (time_t)(until / SECOND_NS),
                            .tv_nsec = (long)(until % SECOND_NS)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL); /* a signal ends it */
}

void call_run(struct call_watch *watch, double seconds, struct call_facts *ret_facts)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), until;
    uint64_t end = seconds > 0 ? now + (uint64_t)(seconds * SECOND_NS) : UINT64_MAX;

    while (!stop_requested && now < end && call_watch_step(watch, &until)) {
        sleep_until(until < end ? until : end);
        now = clock_ns(CLOCK_MONOTONIC);
    }
    call_watch_end(watch, ret_facts);
}
