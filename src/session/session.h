// SPDX-License-Identifier: Apache-2.0
/*
 * The VMs while they are watched, the kernel side, and the recording that samples go to: one, or
 * one after the other without a gap.
 *
 *   sampler (kernel) ──> symbolizer of the VM ──> part: profile + recording writer
 *
 *   start ──> { begin ──> step... ──> end }... ──> free      (the last time, stop ──> end)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/options.h"
#include "session/targets.h"
#include "util/error.h"

struct session;

/* `started_ns`: CLOCK_MONOTONIC when the program began, for attach time. Borrows options, targets,
 * of which it may leave some out, and the command line. Samples are being taken when it returns. */
struct session *session_start(const struct session_options *options, struct targets *targets,
                              const char *command_line, uint64_t started_ns, struct error *error);
void session_free(struct session *session);

/* Begin a recording in `fd`, which is taken over; where there was one before, it goes on from its
 * end. */
int session_begin(struct session *session, int fd, struct error *error);

/* Take in samples for up to `timeout_ms`. Fails if the recording can't be written any more (what
 * was written is valid). */
int session_step(struct session *session, int timeout_ms, struct error *error);

/* False once every target has ended. */
bool session_alive(const struct session *session);

struct session_status {
    double seconds;               /* since the first sample was possible */
    uint64_t part_ns, part_bytes; /* of the recording that is made */
    uint64_t samples, lost;       /* of all */
    const char *busiest;          /* process with the most samples in the last second, "" if none */
    double busiest_share;         /* of that second's samples of processes */
};
/* While there is a recording: look whether a trigger fires, if it may. What fires, valid until the
 * next call, NULL if nothing does. */
const char *session_look(struct session *session, bool may_fire);

/* While there is a recording. */
struct session_status session_status(const struct session *session);

/* Stop sampling. */
void session_stop(struct session *session);

/* Take in what is left and end the recording. A descriptor that reads it is handed out in *ret_fd,
 * on failure too if there is anything to read, else -1. */
int session_end(struct session *session, int *ret_fd, struct error *error);
