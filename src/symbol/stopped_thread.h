// SPDX-License-Identifier: Apache-2.0
/* A scheduler's thread that does not move while it runs a process: it waits in the kernel, or it
 * has ended with its VM. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "wire.h"

struct stopped_thread {
    const struct vm_scheduler *scheduler;
    pid_t tid;
    char name[16];
    uint64_t cpu_ns; /* the CPU time that it had when it was found; 0: unknown, or of a core */
    struct wire_registers registers;
    bool all_registers; /* true: all are valid; false: only the stack pointer and the pc */
};

/* Find the thread that runs the process at `address` and waits in the kernel. False if there is
 * none. */
bool stopped_thread_waiting(struct vm *vm, uint64_t address, struct stopped_thread *thread);

/* True if the thread still waits at the same place, for the same process, and has not run since. */
bool stopped_thread_still_waits(struct vm *vm, uint64_t address,
                                const struct stopped_thread *thread);

/* Find the thread that ran the process at `address` when the core of `vm` was written, on a
 * scheduler of any type. False if there is none, or if the core does not contain its registers. */
bool stopped_thread_of_core(struct vm *vm, uint64_t address, struct stopped_thread *thread);
