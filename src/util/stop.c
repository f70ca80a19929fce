// SPDX-License-Identifier: Apache-2.0
#include "util/stop.h"

#include <signal.h>
#include <stdint.h>

#include "util/clock.h"
#include "util/temporaries.h"

#define MOMENT_NS ((uint64_t)500000000)

volatile int stop_requested;
static volatile uint64_t since; /* CLOCK_MONOTONIC; written before stop_requested */

/* Both handlers are async-signal-safe. The raised signal arrives when the handler has returned. */
void stop_now(int signal_number)
{
    temporaries_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void stop_request(int signal_number)
{
    if (stop_requested) {
        stop_now(signal_number);
        return;
    }
    since = clock_ns(CLOCK_MONOTONIC);
    stop_requested = 1;
}

bool stop_moment_has_passed(void)
{
    return clock_ns(CLOCK_MONOTONIC) - since > MOMENT_NS;
}

int stop_error(struct error *error)
{
    return error_set(error, ERROR_INTERRUPTED,
                     "a signal ended beamflame before the recording began");
}
