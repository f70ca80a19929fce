// SPDX-License-Identifier: Apache-2.0
/*
 * Read all processes of a VM: their structs, and the stacks of processes that do not run.
 *
 * A sweep reads the table, then the structs in batches (neighbours in memory with one read), then
 * the stacks. The VM keeps running. So the struct of a process is read before and after its stack.
 * If the process ran in between, both are read again. If this fails each time, the process is
 * counted as torn.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"
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
    const uint8_t *bytes; /* of the struct: layout.sizeof_process bytes */
    bool is_running;      /* on a normal scheduler: its stack is changing and is not read */
    bool is_known;        /* its stack is not read, see sweep_request.is_known */
    /* The stack, from Process.stop up. If it is too large: the part at the leaf and the part at the
     * root. stack_count is 0 if the stack was not read. */
    struct swept_stack stacks[2];
    size_t stack_count;
    /* code_generation() after the stacks were read. If it differs from the code map's, frames may
     * be in code that the map does not have. 0 if it can't be read. */
    uint64_t code_generation;
};

struct sweep_counts {
    uint64_t processes; /* visited */
    uint64_t gone;      /* ended while they were read, or not yet complete */
    uint64_t torn;      /* ran while they were read: not visited */
};

/* The pid term of a process; its status. */
uint64_t swept_process_id(const struct vm *vm, const struct swept_process *process);
enum process_status swept_process_status(const struct vm *vm, const struct swept_process *process);

/* The data that `process` points to are valid during the call. */
typedef void (*sweep_visit)(void *context, const struct swept_process *process);

/* The memory of a sweep, some MB. Sweeps over several VMs can share it, if none runs during another
 * one. What a sweep has read is valid until the next one then. */
struct sweep_room;
struct sweep_room *sweep_room_new(void);
void sweep_room_free(struct sweep_room *room);

struct process_sweep;

/* `vm` and `room` are borrowed. NULL with error. */
struct process_sweep *process_sweep_new(struct vm *vm, struct sweep_room *room,
                                        struct error *error);
void process_sweep_free(struct process_sweep *sweep);

struct sweep_request {
    bool with_stacks;
    double share;            /* share of the processes to visit, chosen at random; 0 or 1: all */
    const uint64_t *indices; /* indices of the processes in the table; NULL: all */
    size_t index_count;
    sweep_visit visit;
    /* Return true if the stack of this process, which does not run, need not be read. NULL: all
     * are. */
    bool (*is_known)(void *context, const struct swept_process *process);
    void *context;
};

/* Visit every requested process; without stacks, in the order of the table. Adds to *counts.
 * Returns 0, or -1 with error if the table can't be read. */
int process_sweep_run(struct process_sweep *sweep, const struct sweep_request *request,
                      struct sweep_counts *counts, struct error *error);

/* Read one process again, with its stack: the process with this pid term, if it is still at this
 * address. Fills *process unless it is gone; its data are valid until the next call. SWEPT_RUNNING:
 * the process is running, or it ran during each of several attempts to read it. */
enum swept { SWEPT_AT_REST, SWEPT_RUNNING, SWEPT_GONE };
enum swept process_sweep_again(struct process_sweep *sweep, uint64_t address, uint64_t id,
                               struct swept_process *process);

/* Read the stack of a process from `top` up. process_sweep_again() must have found the process just
 * before, on a stopped thread. False if the process has run since. */
bool process_sweep_stack(struct process_sweep *sweep, struct swept_process *process, uint64_t top);

/* ---- process_top.c ---- */

/*
 * The processes of a VM with the highest values of a metric, or with the highest growth of a metric
 * since the last search. A sweep over all structs, without stacks, finds them.
 */

enum { TOP_MAX = 1000000 };

struct process_top;

/* True if processes can be ranked by this metric: their structs alone must determine it. */
bool process_top_ranks(enum metric metric);

/* `count`: the number of processes to find, 1 to TOP_MAX. */
struct process_top *process_top_new(size_t count, enum metric metric, bool by_growth);
void process_top_free(struct process_top *top);

/* Find the processes as they are now; they replace those found before. Adds the sweep's counts to
 * *counts. The growth of a new process is its whole value; in the first search that holds for all
 * processes. Processes with an unknown value are not ranked. Returns 0, or -1 with error. */
int process_top_find(struct process_top *top, struct vm *vm, struct process_sweep *sweep,
                     struct sweep_counts *counts, struct error *error);

/* The table indices of the found processes, ascending. Fills *count. Valid until the next
 * search. */
const uint64_t *process_top_indices(const struct process_top *top, size_t *count);

/* The value or growth with which the process with this pid term was found; false if it was not
 * found. */
bool process_top_value(const struct process_top *top, uint64_t id, int64_t *value);
