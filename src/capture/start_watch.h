// SPDX-License-Identifier: Apache-2.0
/*
 * Watches for programs that start and may be VMs: the kernel reports each exec() by a name that
 * begins with "beam". programs_poll() returns at once then, and programs_take_start() has the pid.
 */
#pragma once

#include "capture/programs.h"

struct start_watch;

/* Ask for the program. Borrows `programs`, which are open. */
struct start_watch *start_watch_new(struct programs *programs);
void start_watch_free(struct start_watch *watch);

/* Begin, after the programs are loaded. Without it VMs are still found by looking at all processes,
 * so a failure is only logged. */
void start_watch_begin(struct start_watch *watch);
