// SPDX-License-Identifier: Apache-2.0
/*
 * Finds VMs that start while a session with all VMs of the host runs: as the kernel reports that
 * their programs begin, and by looking at all processes now and then.
 *
 * A VM that has just begun can't be profiled yet. It is due again at intervals that grow, until it
 * has had the time that a VM needs to start.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/targets.h"

struct arrivals;

/* Targets, and VMs that the targets have refused, do not arrive. */
struct arrivals *arrivals_new(const struct targets *targets);
void arrivals_free(struct arrivals *arrivals);

/* Look at a process that has just begun a program. */
void arrivals_note(struct arrivals *arrivals, pid_t pid);

/* Look at all processes, unless the last look was so recent that another one would take more than
 * half a percent of a CPU. A look reads only executables that are new since the last one. */
void arrivals_look(struct arrivals *arrivals);

/* Return the VM that has been due for the longest time; 0 if none is. */
pid_t arrivals_next(const struct arrivals *arrivals);

/* Return the time until a VM is due (ns); UINT64_MAX if none waits. */
uint64_t arrivals_wait(const struct arrivals *arrivals);

/* The seconds since a VM was seen first, with the executable that it has. */
double arrivals_seconds(const struct arrivals *arrivals, pid_t pid);

/* Record that a VM could not be added. Return true if it is given up now, because it has had the
 * time that a VM needs to start. */
bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error);

/* Look for this VM no more: it is a target, or will not be one. */
void arrivals_settle(struct arrivals *arrivals, pid_t pid);
