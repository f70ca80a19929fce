// SPDX-License-Identifier: Apache-2.0
/*
 * All processes of a VM as they are now: their structs, and the stacks of those that do not run.
 *
 * Reads the table, then structs in batches (neighbours in memory by one read), then stacks. Nothing
 * is stopped meanwhile, so each stack is read between two readings of its process: one that ran in
 * between is read again, and counted as torn if it does so each time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/profile.h"
#include "util/error.h"

/* Part of a stack: `size` bytes at `address` of the target. */
struct swept_stack {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
};

struct swept_process {
    uint64_t index;       /* in the process table */
    uint64_t address;     /* of its struct */
    const uint8_t *bytes; /* of the struct: layout.sizeof_process of them */
    bool is_running;      /* on a normal scheduler: its stack is not at rest, and not read */
    /* From Process.stop up; of one that is too deep the part next to the leaf and that next to the
     * root. Not read: 0. */
    struct swept_stack stacks[2];
    size_t stack_count;
};

struct sweep_counts {
    uint64_t processes; /* that were visited */
    uint64_t gone;      /* that ended, or were not there yet, while they were read */
    uint64_t torn;      /* that ran while they were read: not visited */
};

/* Its pid term, and its status (enum process_status). */
uint64_t swept_process_id(const struct vm *vm, const struct swept_process *process);
enum process_status swept_process_status(const struct vm *vm, const struct swept_process *process);

/* What `process` points to is valid for the call. */
typedef void (*sweep_visit)(void *context, const struct swept_process *process);

struct process_sweep;

/* `vm` is borrowed. NULL with error. */
struct process_sweep *process_sweep_new(struct vm *vm, struct error *error);
void process_sweep_free(struct process_sweep *sweep);

struct sweep_request {
    bool with_stacks;
    double share; /* of all processes, those to be looked at: by chance. 0 is as 1: all */
    const uint64_t *indices; /* only those at these indices of the table; NULL: all */
    size_t index_count;
    sweep_visit visit;
    void *context;
};

/* Visit every process that is asked for, without stacks in the order of the table; adds to *counts.
 * Returns 0, or -1 with error if the table can't be read. */
int process_sweep_run(struct process_sweep *sweep, const struct sweep_request *request,
                      struct sweep_counts *counts, struct error *error);

/* Read one process again, with its stack: that with this pid term, if it is still at this address.
 * Fills *process unless it is gone; what it points to is valid until the next call. One that runs
 * each time that it is read is running. */
enum swept { SWEPT_AT_REST, SWEPT_RUNNING, SWEPT_GONE };
enum swept process_sweep_again(struct process_sweep *sweep, uint64_t address, uint64_t id,
                               struct swept_process *process);

/* The stack of a process that process_sweep_again() has just found, on a thread that stands still:
 * from `top` up. False if it has run on meanwhile. */
bool process_sweep_stack(struct process_sweep *sweep, struct swept_process *process, uint64_t top);
