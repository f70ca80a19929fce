// SPDX-License-Identifier: Apache-2.0
/* A scheduler's thread that stands still while it runs a process: it waits in the kernel, or has
 * ended with its VM. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "wire.h"

struct stopped_thread {
    const struct vm_scheduler *scheduler;
    pid_t tid;
    char name[16];
    struct wire_registers registers;
    bool all_registers; /* hold; else rsp and rip */
};

/* The thread that runs the process at `address` and waits in the kernel; false if none does. */
bool stopped_thread_waiting(struct vm *vm, uint64_t address, struct stopped_thread *thread);

/* Whether it waits where it did, for the same process. */
bool stopped_thread_still_waits(struct vm *vm, uint64_t address,
                                const struct stopped_thread *thread);

/* The thread that ran the process at `address`, on a scheduler of any type, when the core that the
 * VM is of was written; false if none did, or its registers are not there. */
bool stopped_thread_of_core(struct vm *vm, uint64_t address, struct stopped_thread *thread);
