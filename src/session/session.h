// SPDX-License-Identifier: Apache-2.0
/*
 * A session: the targets, the kernel side, and the recording that gets the samples. The recording
 * is one segment, or several in turn without a gap.
 *
 *   sampler (kernel) ──> symbolizer of the VM ──> segment: profile + recording writer
 *
 *   start ──> { begin ──> step... ──> end }... ──> free      (the last time, stop ──> end)
 *
 *   a pause:        step ──> pause ──> end ──> begin ──> resume ──> step
 *   other events:   step ──> pause ──> end ──> change ──> begin ──> resume ──> step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/options.h"
#include "session/targets.h"
#include "util/error.h"

struct session;

/* Start sampling. `started_ns`: CLOCK_MONOTONIC when the program began, for the attach time.
 * Borrows the options, the targets and the command line. It may remove targets that can't be
 * profiled. NULL with error, also if a signal asks for the end (util/stop.h). */
struct session *session_start(const struct session_options *options, struct targets *targets,
                              const char *command_line, uint64_t started_ns, struct error *error);
void session_free(struct session *session);

/* Begin a segment in `fd`, and take ownership of `fd`. If there was a segment before, the new one
 * begins at its end, or after a pause now. */
int session_begin(struct session *session, int fd, struct error *error);

/* Process samples for up to `timeout_ms`. Fails if the recording can't be written any more, or if
 * the guard has stopped CPU sampling. What was written before is valid. */
int session_step(struct session *session, int timeout_ms, struct error *error);

/* False if the guard has stopped CPU sampling: each step and each end of a segment fails. */
bool session_may_continue(const struct session *session);

/* False once every target has ended, unless others may join: VMs that start, if all VMs of the host
 * are targets. */
bool session_alive(const struct session *session);

/* Mark this moment. Only while there is a segment. -1 with error if it has too many marks. */
int session_mark(struct session *session, const char *label, struct error *error);

/* Mark this moment by what the recorder has found, if the recording has room for a mark. The label
 * may have names that the VM controls; one that is too long is cut. Only while there is a segment.
 */
void session_mark_finding(struct session *session, const char *label);

/* ---- session_follow.c ---- */

/* These change a session without a gap. Only while there is a segment. -1 with error: sampling
 * ends, as after a failed step. */

/* Notice VMs that have ended since the last step. Call before the changes below, which would take
 * such a VM for one that leaves the recording, and before other triggers replace those that fire at
 * its end. */
int session_notice_ends(struct session *session, struct error *error);

/* Follow other rules from now on (targets_find_rule()), if all VMs of the host are targets. VMs
 * that are recorded as before continue; others leave, and join again as if they had started now.
 * Fails if the segment has no room for those that join again. Borrows the rules; those before must
 * exist until this returns. */
int session_set_rules(struct session *session, const struct target_rule *rules, size_t count,
                      struct error *error);

/* Watch the triggers of the session's options, which the caller has changed. A trigger that was
 * among them before does not fire again while its condition holds. `before`: a copy of their array
 * before the change. */
int session_set_triggers(struct session *session, const struct trigger *before,
                         struct error *error);

/* Read the numbers of VMs, or do so no longer, as the session's options say, which the caller has
 * changed. */
void session_set_node_numbers(struct session *session);

/* ---- session.c ---- */

/* The pid of a VM that has ended since the last call while the session continues; 0 if none has. */
pid_t session_take_ended(struct session *session);

struct session_status {
    double seconds;                     /* since the first sample was possible */
    uint64_t segment_ns, segment_bytes; /* of the current segment */
    uint64_t samples, lost;             /* of all segments */
    uint64_t losses[LOSS_COUNT];        /* the same */
    const char *busiest;  /* process with the most samples in the last second, "" if none */
    double busiest_share; /* its share of that second's samples of processes */
};
/* Check the triggers, while there is a segment. Return the text of the one that fires, valid until
 * the next call, or NULL. None fires unless `may_fire`. */
const char *session_look(struct session *session, bool may_fire);

/* Only while there is a segment, or paused. */
struct session_status session_status(const struct session *session);

/* The profile of the current segment, to which the targets' symbolizers refer. */
const struct profile *session_profile(const struct session *session);

/* Stop sampling for a time: clocks stop, probes are detached, nothing is swept. Then end the
 * segment. */
void session_pause(struct session *session);

/* In a pause, after the end of the segment: record the events of the session's options from now on,
 * which the caller has changed. Programs are loaded and probes attached anew. `added`: the event
 * that is new; NULL: none is. -1 with error if that fails, or if no target has the new event. Then
 * nothing is sampled: the caller changes the options back and calls this again, or stops. */
int session_change(struct session *session, const char *added, struct error *error);

/* Sample again, in the segment that was begun after the pause. */
void session_resume(struct session *session);

/* Stop sampling for good. */
void session_stop(struct session *session);

/* Process the remaining samples and end the segment. *ret_fd reads it, also on failure if there is
 * anything to read; else it is -1. */
int session_end(struct session *session, int *ret_fd, struct error *error);
