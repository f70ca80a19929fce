// SPDX-License-Identifier: Apache-2.0
/* Finds VMs that start while a session with all VMs of the host runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/targets.h"

struct arrivals;

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *arrivals);

/* Return the pids of VMs that are no targets and were not given up, `*count` of them, to be freed.
 * NULL if there are none, or if the last look was so recent that another one would take more than
 * half a percent of a CPU. Only executables that are new since then are read. */
pid_t *arrivals_look(struct arrivals *arrivals, const struct targets *targets, size_t *count);

/* Note that a VM which the last look returned could not be added. True if it is given up now: its
 * error says that it is not supported, or it has had the time that a VM needs to start. */
bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error);
