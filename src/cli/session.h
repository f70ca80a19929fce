// SPDX-License-Identifier: Apache-2.0
/*
 * One recording while it is made: the VMs, the kernel side, and the recording they go to.
 *
 *   sampler (kernel) ──> symbolizer of the VM ──> profile + recording writer
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/targets.h"
#include "profile/recording.h"
#include "util/error.h"

struct session;

/* `started_ns`: CLOCK_MONOTONIC when the program began, for attach time. `recording_path`: where
 * the recording goes, NULL for an unnamed temporary file. Borrows options and targets, of which it
 * may leave some out. Samples are being taken when it returns. */
struct session *session_start(const struct record_options *options, struct targets *targets,
                              const char *recording_path, const char *command_line,
                              uint64_t started_ns, struct error *error);
void session_free(struct session *session);

/* Take in samples for up to `timeout_ms`. Fails if the recording can't be written any more (what
 * was written is valid). */
int session_step(struct session *session, int timeout_ms, struct error *error);

/* False once every target has ended. */
bool session_alive(const struct session *session);

struct session_status {
    double seconds; /* since the first sample was possible */
    uint64_t samples, lost;
    const char *busiest;  /* process with the most samples in the last second, "" if none */
    double busiest_share; /* of that second's samples of processes */
};
struct session_status session_status(struct session *session);

/* Stop sampling, take in what is left and end the recording. A descriptor that reads it is handed
 * out in *ret_fd, on failure too if there is anything to read, else -1. */
int session_finish(struct session *session, int *ret_fd, struct error *error);
