// SPDX-License-Identifier: Apache-2.0
/*
 * A process that works for the agent until the agent ends it. If it ends earlier, the agent starts
 * it again, unless it can't run on this machine at all.
 *
 *   start ──> { must_start ──> start }... ──> end
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* The exit code of a process that has said why it can't run here: a library is missing. */
enum { WORKER_CAN_NOT_RUN = 100 };

enum { WORKER_DESCRIPTORS = 4 };

struct worker_job {
    const char *name; /* of the process: "beamflame-send" */
    /* The work of the process. It must not return. `end_fd` becomes readable when the process
     * should end: a byte says that it may finish its current work; without a byte, the end of the
     * file ends it at once. */
    void (*run)(void *context, int end_fd);
    void *context;
    int kept[WORKER_DESCRIPTORS]; /* descriptors that it needs; -1: none */
};

struct worker {
    pid_t pid;        /* 0: not running */
    int end_fd;       /* closed to end it */
    uint64_t started; /* CLOCK_MONOTONIC */
    bool can_not_run;
};

/* Start the process. -1 with error; worker_must_start() then asks for another try. */
int worker_start(struct worker *worker, const struct worker_job *job, struct error *error);

/* True if the process has ended, or was never started, and is to be started now: 10 s after the
 * last start at the earliest. `now`: CLOCK_MONOTONIC. */
bool worker_must_start(struct worker *worker, uint64_t now);

/* True if the process runs. */
bool worker_runs(struct worker *worker);

/* Ask the process to end, and do not wait. `hands_over`: it finishes its current work, and no
 * more. */
void worker_ask_to_end(struct worker *worker, bool hands_over);

/* Wait until the process has ended, up to `until` (CLOCK_MONOTONIC). Then it is killed. */
void worker_await(struct worker *worker, uint64_t until);
