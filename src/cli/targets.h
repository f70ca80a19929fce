// SPDX-License-Identifier: Apache-2.0
/* Which VMs to profile. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "cli/options.h"
#include "util/error.h"

struct targets {
    struct vm *vms[PIDS_MAX];
    size_t count;
    pid_t child; /* the command that was started, 0 if none */
};

/* Open what the options ask for: the pids, every BEAM, the command's, or the only one there is.
 * `stop` ends the wait for a command to become a VM. */
int targets_open(const struct record_options *options, const volatile int *stop,
                 struct targets *targets, struct error *error);

/* Why a VM could not be attached to: with its pid, or that it has ended. Returns -1. */
int targets_error(const struct vm *vm, struct error *error);

/* Of -a, one VM that can't be profiled does not keep us from the others: whether `error` is such,
 * which is said unless the VM only ended. */
bool targets_may_leave_out(pid_t pid, const struct error *error);
void targets_leave_out(struct targets *targets, size_t index);

/* Closes the VMs. A command that was started is left to run. */
void targets_close(struct targets *targets);
