// SPDX-License-Identifier: Apache-2.0
/* Which VMs to profile. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "session/options.h"
#include "util/error.h"

struct targets {
    struct vm *vms[PIDS_MAX];
    size_t count;
    bool all; /* that there are on this host: one of them can be left out */
    warn_function warn;
    pid_t child; /* the command that was started, 0 if none */
};

/* Open what the options ask for: the pids, every BEAM, the command's, or the only one there is.
 * `stop` ends the wait for a command to become a VM. */
int targets_open(const struct target_options *options, const volatile int *stop,
                 struct targets *targets, struct error *error);

/* Why a VM could not be attached to: with its pid, or that it has ended. Returns -1. */
int targets_error(const struct vm *vm, struct error *error);

/* Of all that there are, one VM that can't be profiled does not keep us from the others: whether it
 * was left out, which it is unless it is the last one. That is told unless it has only ended. */
bool targets_leave_out(struct targets *targets, size_t index, const struct error *error);

/* Closes the VMs. A command that was started is left to run. */
void targets_close(struct targets *targets);
