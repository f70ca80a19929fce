// SPDX-License-Identifier: Apache-2.0
/*
 * The metrics of an Erlang process, with the values that erlang:process_info/2 returns.
 *
 * process_metrics_read() needs only the bytes of the process struct. process_walk_metrics()
 * (beam/process_walk.h) reads further data from the live target. A metric that can't be determined
 * is unknown, never guessed. The VM does not count major collections of a process, so there is no
 * such metric.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"

/* The state of a process on a scheduler that is not in its struct. */
struct process_registers {
    uint64_t stop; /* top of its stack; 0 if unknown */
    enum {
        REDUCTIONS_UNKNOWN, /* the struct may lack some */
        REDUCTIONS_COUNTED, /* the struct has all */
        REDUCTIONS_LEFT,    /* `fcalls` of those it got when scheduled in are left */
    } reductions;
    int64_t fcalls;
    uint32_t virtual_reds; /* ErtsSchedulerData.virtual_reds */
};

/* Read the metrics that the struct alone determines: all but METRIC_MEMORY and METRIC_BINARIES, and
 * all but METRIC_MBUF and METRIC_HEAP if queued messages may count as heap. `bytes`:
 * layout.sizeof_process bytes. `registers`: NULL if unknown. Then the stack of an executing process
 * is unknown, and its reductions are those that it had used when it was scheduled in. */
void process_metrics_read(const struct vm *vm, const uint8_t *bytes,
                          const struct process_registers *registers, struct metrics *metrics);
