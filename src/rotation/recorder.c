// SPDX-License-Identifier: Apache-2.0
#include "rotation/recorder.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "recording/recording.h"
#include "rotation/steering.h"
#include "util/clock.h"

enum {
    PIECES_MAX = 256, /* of a recording of which snapshots are written: each is an open file */
};

static const uint64_t SECOND = 1000000000;

/* If a segment ends this late, the ends of the next ones are computed from its actual end. */
static const uint64_t LATE = 1000000000;

struct recorder {
    struct session *session;
    const struct recorder_options *options;
    const volatile int *stop;
    struct rotation *rotation; /* NULL: no segments */
    uint64_t end, segment_end; /* CLOCK_MONOTONIC */
    bool open;                 /* a recording is in progress */
    bool paused;
    bool waits_for_room;            /* paused, because a segment can't be written */
    uint64_t next_attempt;          /* CLOCK_MONOTONIC: to begin the next segment then */
    struct error problem;           /* why it waits */
    struct recording_pieces pieces; /* before pauses; without segments */
    const struct recording_place *place;
    struct rotation *snapshots; /* without segments; NULL: none can be written */
};

static struct recorder recorder(struct session *session, const struct recorder_options *options,
                                const volatile int *stop, struct rotation *rotation)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    double first = options->first_loop > 0 ? options->first_loop : options->loop;

    return (struct recorder){
        .session = session,
        .options = options,
        .stop = stop,
        .rotation = rotation,
        .end = options->duration > 0 ? now + (uint64_t)(options->duration * 1e9) : UINT64_MAX,
        .segment_end = rotation ? now + (uint64_t)(first * 1e9) : UINT64_MAX,
    };
}

/* False in the first second, because the beginning of a recording alone has some bytes. */
static bool has_its_size(const struct recorder *recorder)
{
    struct session_status status;

    if (!recorder->options->max_size)
        return false;
    status = session_status(recorder->session);
    return recorder->pieces.bytes + status.segment_bytes >= recorder->options->max_size &&
           status.segment_ns >= SECOND;
}

static int begin_segment(struct recorder *recorder, struct error *error)
{
    int fd = rotation_create(recorder->rotation, time(NULL), error);

    if (fd < 0)
        return -1;
    if (session_begin(recorder->session, fd, error)) {
        rotation_drop(recorder->rotation);
        return -1;
    }
    recorder->open = true;
    return 0;
}

/* ---- no room for segments ---- */

/* Pause until a segment can be written, if somebody makes room for it. Else return the error. */
static int wait_for_room(struct recorder *recorder, struct error *error)
{
    struct error same; /* what could not be written can't be completed either */
    int fd, ended;

    if (!recorder->options->reports->make_room || !session_may_continue(recorder->session))
        return -1;
    session_pause(recorder->session);
    if (recorder->open) {
        ended = session_end(recorder->session, &fd, &same);
        rotation_write(recorder->rotation, fd, ended == 0);
    }
    recorder->open = false;
    recorder->paused = recorder->waits_for_room = true;
    recorder->next_attempt = clock_ns(CLOCK_MONOTONIC);
    recorder->problem = *error;
    return 0;
}

/* Begin the next segment if there is room. */
static void try_again(struct recorder *recorder, uint64_t now)
{
    const struct rotation_reports *reports = recorder->options->reports;

    if (now < recorder->next_attempt)
        return;
    recorder->next_attempt = now + SECOND;
    if (!reports->make_room(reports->context, &recorder->problem) ||
        begin_segment(recorder, &recorder->problem))
        return;
    recorder->segment_end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(recorder->options->loop * 1e9);
    recorder->paused = recorder->waits_for_room = false;
    session_resume(recorder->session);
}

/* ---- segments ---- */

/* End the segment and begin the next one. The end of the current segment is reported if it fails.
 * Returns the error if there is no next one. */
static int next_segment(struct recorder *recorder, struct error *error)
{
    const struct rotation_reports *reports = recorder->options->reports;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool in_time = now >= recorder->segment_end && now - recorder->segment_end < LATE;
    struct error problem;
    int fd, ended = session_end(recorder->session, &fd, &problem);

    recorder->open = false;
    rotation_write(recorder->rotation, fd, ended == 0);
    if (!session_may_continue(recorder->session)) {
        *error = problem;
        return -1;
    }
    if (ended && reports->make_room) {
        *error = problem;
        return wait_for_room(recorder, error);
    }
    if (ended)
        reports->failed(reports->context, &problem);
    if (begin_segment(recorder, error))
        return wait_for_room(recorder, error);
    recorder->segment_end =
        (in_time ? recorder->segment_end : now) + (uint64_t)(recorder->options->loop * 1e9);
    return 0;
}

/* Continue with the next segment. A segment that failed at once would fail again. */
static int after_failure(struct recorder *recorder, struct error *error)
{
    if (recorder->rotation && recorder->options->reports->make_room)
        return wait_for_room(recorder, error);
    if (!recorder->rotation || !session_may_continue(recorder->session) ||
        session_status(recorder->session).segment_ns < SECOND)
        return -1;
    return next_segment(recorder, error);
}

/* ---- pauses ---- */

/* End the segment, or the piece of a recording in one file. */
static int pause_recording(void *context, struct error *error)
{
    struct recorder *recorder = context;
    uint64_t bytes;
    int fd, result;

    session_pause(recorder->session);
    bytes = session_status(recorder->session).segment_bytes;
    result = session_end(recorder->session, &fd, error);
    recorder->open = false;
    recorder->paused = true;
    if (recorder->rotation)
        rotation_write(recorder->rotation, fd, result == 0);
    else
        recording_pieces_add(&recorder->pieces, fd, bytes);
    return result;
}

static int begin_piece(struct recorder *recorder, struct error *error)
{
    int fd = recording_writer_file(NULL, recorder->place->temporary, error);

    if (fd < 0 || session_begin(recorder->session, fd, error))
        return -1;
    recorder->open = true;
    return 0;
}

static int resume_recording(void *context, struct error *error)
{
    struct recorder *recorder = context;

    if (recorder->rotation ? begin_segment(recorder, error) : begin_piece(recorder, error))
        return -1;
    if (recorder->rotation)
        recorder->segment_end =
            clock_ns(CLOCK_MONOTONIC) + (uint64_t)(recorder->options->loop * 1e9);
    recorder->paused = false;
    session_resume(recorder->session);
    return 0;
}

/* ---- snapshots ---- */

/* A snapshot of a recording in segments is the end of a segment. */
static int end_segment_now(struct recorder *recorder, struct error *error)
{
    if (recorder->paused) {
        error_set(error, ERROR_USAGE, "the recording is paused, and its last segment was written");
        return 1;
    }
    if (rotation_is_busy(recorder->rotation)) {
        error_set(error, ERROR_USAGE, "the segment before is still being written");
        return 1;
    }
    if (session_status(recorder->session).segment_ns < SECOND) {
        error_set(error, ERROR_USAGE, "the segment began less than a second ago");
        return 1;
    }
    return next_segment(recorder, error);
}

/* End the piece, and begin the next one. */
static int next_piece(struct recorder *recorder, struct error *error)
{
    uint64_t bytes = session_status(recorder->session).segment_bytes;
    int fd, result;

    if (recorder->paused)
        return 0;
    result = session_end(recorder->session, &fd, error);
    recorder->open = false;
    recording_pieces_add(&recorder->pieces, fd, bytes);
    return result ? -1 : begin_piece(recorder, error);
}

/* Return 1 with error if no snapshot can be written now. */
static int refuse_snapshot(const struct recorder *recorder, struct error *error)
{
    const char *reason = NULL;

    if (!recorder->snapshots)
        reason = "an output is no regular file, and each snapshot needs files of its own";
    else if (rotation_is_busy(recorder->snapshots))
        reason = "the snapshot before is still being written";
    else if (recorder->pieces.count >= PIECES_MAX)
        reason = "256 pauses and snapshots are the most";
    return reason ? error_set(error, ERROR_USAGE, "%s", reason), 1 : 0;
}

static int write_snapshot(void *context, struct error *error)
{
    struct recorder *recorder = context;
    int file, result, *pieces;

    if (recorder->rotation)
        return end_segment_now(recorder, error);
    if (refuse_snapshot(recorder, error))
        return 1;
    file = rotation_create(recorder->snapshots, time(NULL), error);
    if (file < 0)
        return 1;
    result = next_piece(recorder, error);
    pieces = result ? NULL : recording_pieces_duplicate(&recorder->pieces, error);
    if (!pieces) {
        rotation_drop(recorder->snapshots);
        close(file);
        return result ? -1 : 1;
    }
    rotation_join(recorder->snapshots, pieces, recorder->pieces.count, NULL, file, true);
    free(pieces);
    return 0;
}

/* ---- the run ---- */

/* Take samples for up to `left_ms`, or wait while the recording is paused. */
static int step(struct recorder *recorder, uint64_t left_ms, struct error *error)
{
    int step_ms = recorder->options->step_ms;
    int timeout_ms = left_ms < (uint64_t)step_ms ? (int)left_ms + 1 : step_ms;

    if (recorder->paused) {
        poll(NULL, 0, timeout_ms);
        return 0;
    }
    return session_step(recorder->session, timeout_ms, error) ? after_failure(recorder, error) : 0;
}

/* True if the recording ends at its size. */
static bool is_full(const struct recorder *recorder)
{
    const struct rotation_reports *reports = recorder->options->reports;

    if (recorder->rotation || recorder->paused || !has_its_size(recorder))
        return false;
    reports->full(reports->context, recorder->options->max_size);
    return true;
}

/* True if the segment ends now, and the next one begins. */
static bool segment_is_over(const struct recorder *recorder, uint64_t now)
{
    return recorder->rotation && !recorder->paused &&
           (now >= recorder->segment_end || has_its_size(recorder)) &&
           !rotation_is_busy(recorder->rotation);
}

static uint64_t ms_left(const struct recorder *recorder, uint64_t now)
{
    uint64_t end = recorder->end < recorder->segment_end ? recorder->end : recorder->segment_end;

    return now < end ? (end - now) / 1000000 : (uint64_t)recorder->options->step_ms;
}

/* Take a step, and do what others request. Return 0, 1 if the recording ends, or -1 with error. */
static int take_turn(struct recorder *recorder, uint64_t now, struct error *error)
{
    const struct rotation_reports *reports = recorder->options->reports;
    const struct steering_actions actions = {recorder, pause_recording, resume_recording,
                                             write_snapshot, reports->warn};
    enum recorder_state state;

    if (recorder->waits_for_room)
        try_again(recorder, now);
    if (segment_is_over(recorder, now))
        return next_segment(recorder, error);
    if (step(recorder, ms_left(recorder, now), error))
        return -1;
    state = recorder->paused ? RECORDER_PAUSED : RECORDER_RECORDS; /* a step that fails can pause */
    reports->progress(reports->context, recorder->session, state);
    return steering_step(recorder->options->steering, recorder->session, state, &actions, error);
}

static int run(struct recorder *recorder, struct error *error)
{
    const struct rotation_reports *reports = recorder->options->reports;
    int result = 0;

    while (!result && !*recorder->stop && session_alive(recorder->session)) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);

        if (now >= recorder->end || is_full(recorder))
            break;
        result = take_turn(recorder, now, error);
    }
    reports->progress(reports->context, recorder->session, RECORDER_ENDS);
    return result < 0 ? -1 : 0;
}

/* Stop, and end the segment or piece that is in progress. If there are two errors, both have the
 * same cause. The first is returned. */
static int end(struct recorder *recorder, int result, int *ret_fd, struct error *error)
{
    struct error end_error;

    *ret_fd = -1;
    session_stop(recorder->session);
    if (!recorder->open || session_end(recorder->session, ret_fd, &end_error) == 0)
        return result;
    if (!result)
        *error = end_error;
    return -1;
}

int recorder_run(struct session *session, const struct recorder_options *options,
                 const volatile int *stop, const struct recording_place *place,
                 struct rotation *snapshots, int fd, int *ret_fd, struct error *error)
{
    struct recorder own = recorder(session, options, stop, NULL);
    struct error join_error;
    int result;

    *ret_fd = -1;
    own.place = place;
    own.snapshots = snapshots;
    if (session_begin(session, fd, error))
        return -1;
    own.open = true;
    result = end(&own, run(&own, error), &fd, error);
    recording_pieces_add(&own.pieces, fd, 0);
    if (!own.pieces.count)
        return result;
    if (snapshots)
        rotation_wait(snapshots); /* it reads pieces */
    *ret_fd = recording_pieces_take(&own.pieces, place, options->reports->warn, &join_error);
    if (*ret_fd < 0 && !result)
        *error = join_error;
    return *ret_fd < 0 ? -1 : result;
}

int recorder_run_segments(struct session *session, const struct recorder_options *options,
                          const volatile int *stop, struct rotation *rotation, struct error *error)
{
    struct recorder own = recorder(session, options, stop, rotation);
    int fd, result;

    if (begin_segment(&own, error) && wait_for_room(&own, error))
        return -1;
    result = end(&own, run(&own, error), &fd, error);
    if (fd >= 0)
        rotation_write(rotation, fd, result == 0);
    return result;
}
