// SPDX-License-Identifier: Apache-2.0
/* Converts what a sweep read of a process into the form of a kernel sample. */
#pragma once

#include "beam/code.h"
#include "beam/process_sweep.h"
#include "symbol/snapshot.h"
#include "symbol/stopped_thread.h"

struct swept_snapshot {
    struct snapshot snapshot;
    struct wire_sample sample;
    uint8_t mfa[WIRE_MFA_BYTES];
    uint8_t scheduler[WIRE_SCHEDULER_BYTES];
    uint64_t native[WIRE_C_STACK_BYTES / 8], frame[8];
};

/* Fill with a process that does not run. Keeps pointers into `swept`. `time` in ns of
 * CLOCK_MONOTONIC. */
void swept_snapshot_make(struct swept_snapshot *snapshot, const struct vm *vm, struct code *code,
                         const struct swept_process *swept, uint64_t time);

/* Fill with a process that `thread` runs. Keeps pointers into `swept`. False if the scheduler's
 * struct or the thread's native stack can't be read. */
bool swept_snapshot_stopped(struct swept_snapshot *snapshot, const struct vm *vm, struct code *code,
                            const struct swept_process *swept, const struct stopped_thread *thread,
                            uint64_t time);
