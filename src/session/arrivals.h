// SPDX-License-Identifier: Apache-2.0
/* Finds VMs that start while a session with all VMs of the host runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/targets.h"

struct arrivals;

/* VMs that run already do not arrive, whether they are targets or not. */
struct arrivals *arrivals_new(const struct targets *targets);
void arrivals_free(struct arrivals *arrivals);

/* Return the pids of the VMs that have arrived, `*count` of them, without targets and VMs that were
 * given up. The caller frees them. NULL if there are none, or if the last look was so recent that
 * another one would take more than half a percent of a CPU. A look reads only executables that are
 * new since the last one. */
pid_t *arrivals_look(struct arrivals *arrivals, const struct targets *targets, size_t *count);

/* The seconds since a VM was seen first, with the executable that it has. */
double arrivals_seconds(const struct arrivals *arrivals, pid_t pid);

/* Record that a VM could not be added. Return true if it is given up now, because it has had the
 * time that a VM needs to start. */
bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error);

/* Look for this VM no more. */
void arrivals_give_up(struct arrivals *arrivals, pid_t pid);
