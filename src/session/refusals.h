// SPDX-License-Identifier: Apache-2.0
/* The VMs that run and are not profiled, with the reason. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "os/process.h"

struct refused_vm {
    pid_t pid;
    struct process_identity identity;
    char *reason;
};

struct refusals {
    struct refused_vm *of;
    size_t count, room;
};

/* Add a VM. The reason is copied. */
void refusals_add(struct refusals *refusals, pid_t pid, const char *reason);

/* True if the program that the process runs now was refused. */
bool refusals_has(const struct refusals *refusals, pid_t pid);

/* Forget those that have ended. */
void refusals_forget_ended(struct refusals *refusals);

void refusals_free(struct refusals *refusals);
