// SPDX-License-Identifier: Apache-2.0
/*
 * Watches for programs that start and may be VMs: the kernel reports each exec() by a name that
 * begins with "beam". programs_poll() returns at once then, and programs_take_start() has the pid.
 */
#pragma once

#include "capture/programs.h"

struct start_watch;

/* Request the BPF program. Borrows `programs`, which are open. */
struct start_watch *start_watch_new(struct programs *programs);
void start_watch_free(struct start_watch *watch);

/* Begin, after the programs are loaded. A failure is only logged, because looks at all processes
 * find the VMs later. */
void start_watch_begin(struct start_watch *watch);
