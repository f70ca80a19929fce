// SPDX-License-Identifier: Apache-2.0
/*
 * The request to end that a signal makes.
 *
 * The main loop of a recording looks at `stop_requested`, ends and writes what it has. Meanwhile
 * the names of the last samples may be read for a moment. After that, reads and searches of a
 * target give up: memory_read() fails, and long searches find nothing. So no target can delay the
 * end, whatever its memory contains.
 *
 * A second signal ends the program at once (stop_now()). Nothing stays in the target
 * (docs/safety.md).
 */
#pragma once

#include <stdbool.h>

#include "util/error.h"

/* Not 0 after the first signal. */
extern volatile int stop_requested;

/* A handler of signals that makes the request. */
void stop_request(int signal);

/* A handler of signals that ends the program at once, as if it did not handle the signal, but
 * removes temporary files. */
void stop_now(int signal);

/* Fill `error` for what ends before there is anything to keep, and return -1. */
int stop_error(struct error *error);

/* True if the moment has passed since the first signal. */
bool stop_moment_has_passed(void);

/* True if reading and searching must give up. Cheap while there was no signal. */
static inline bool stop_is_overdue(void)
{
    return stop_requested && stop_moment_has_passed();
}
