// SPDX-License-Identifier: Apache-2.0
/*
 * Ends the program where a signal can't: a thread that reads a page which another process holds
 * back takes no signal that has a handler, and never continues.
 */
#pragma once

#include <sys/types.h>

/* Watch, in a thread of its own, for a read of a process that lasts too long (native/memory.h).
 * Then call `say` with its pid, which must not wait for another thread, and end the program with
 * ERROR_UNSUPPORTED: within 2 s of a signal of util/stop.h, and after 5 s without one. Without
 * threads nothing is watched. */
void stop_guard_start(void (*say)(pid_t pid));

/* End the thread, when no process is read any more. */
void stop_guard_end(void);
