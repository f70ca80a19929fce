// SPDX-License-Identifier: Apache-2.0
/*
 * What an Erlang process holds and has done, in the numbers that erlang:process_info/2 gives.
 *
 * Taken from the bytes of the process struct; what has to be walked to by reading the live target
 * is asked for separately. What can't be told is left unknown, never guessed. How many major
 * collections a process has had is not told at all: the VM does not keep it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"

/* What of a process that executes on a scheduler is not in its struct. */
struct process_registers {
    uint64_t stop; /* top of its stack; 0 if not known */
    enum {
        REDUCTIONS_UNKNOWN, /* some may have been added to those in the struct */
        REDUCTIONS_COUNTED, /* those in the struct are all */
        REDUCTIONS_LEFT,    /* it has `fcalls` left of those it had when it was scheduled in */
    } reductions;
    int64_t fcalls;
    uint32_t virtual_reds; /* ErtsSchedulerData.virtual_reds */
};

/* What the struct alone tells: all but METRIC_MEMORY and METRIC_BINARIES, and where messages wait
 * in its queue, METRIC_MBUF and METRIC_HEAP. `bytes`: layout.sizeof_process of them. `registers`:
 * NULL where not known; then the stack of a process that executes is not known, and its reductions
 * are those that it had used when it was scheduled in. */
void process_metrics_read(const struct vm *vm, const uint8_t *bytes,
                          const struct process_registers *registers, struct metrics *metrics);

/* The others, and those that were left out for the messages' sake, are added to `metrics`: by
 * reading what the struct at `address` points to, `reads` times at most. `bytes` are to be fresh:
 * where what they point to is no longer the same, nothing is added. Returns how often it has read.
 */
enum { PROCESS_READS_MAX = 100000 };
size_t process_metrics_walk(struct vm *vm, uint64_t address, const uint8_t *bytes, size_t reads,
                            struct metrics *metrics);
