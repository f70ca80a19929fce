// SPDX-License-Identifier: Apache-2.0
#include "rotation/recorder.h"

#include <time.h>

#include "rotation/steering.h"
#include "util/clock.h"

enum { STEP_MS = 100 };

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
};

static struct recorder recorder(struct session *session, const struct recorder_options *options,
                                const volatile int *stop, struct rotation *rotation)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    return (struct recorder){
        .session = session,
        .options = options,
        .stop = stop,
        .rotation = rotation,
        .end = options->duration > 0 ? now + (uint64_t)(options->duration * 1e9) : UINT64_MAX,
        .segment_end = rotation ? now + (uint64_t)(options->loop * 1e9) : UINT64_MAX,
    };
}

/* False in the first second, because the beginning of a recording alone has some bytes. */
static bool has_its_size(const struct recorder *recorder)
{
    struct session_status status;

    if (!recorder->options->max_size)
        return false;
    status = session_status(recorder->session);
    return status.segment_bytes >= recorder->options->max_size && status.segment_ns >= SECOND;
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
    if (ended)
        reports->failed(reports->context, &problem);
    if (begin_segment(recorder, error))
        return -1;
    recorder->segment_end =
        (in_time ? recorder->segment_end : now) + (uint64_t)(recorder->options->loop * 1e9);
    return 0;
}

/* Continue with the next segment. A segment that failed at once would fail again. */
static int after_failure(struct recorder *recorder, struct error *error)
{
    if (!recorder->rotation || !session_may_continue(recorder->session) ||
        session_status(recorder->session).segment_ns < SECOND)
        return -1;
    return next_segment(recorder, error);
}

static int run(struct recorder *recorder, struct error *error)
{
    const struct rotation_reports *reports = recorder->options->reports;
    int result = 0;

    while (!result && !*recorder->stop && session_alive(recorder->session)) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        uint64_t end =
            recorder->end < recorder->segment_end ? recorder->end : recorder->segment_end;
        uint64_t left_ms = now < end ? (end - now) / 1000000 : STEP_MS;
        bool full = has_its_size(recorder);

        if (now >= recorder->end)
            break;
        if (full && !recorder->rotation) {
            reports->full(reports->context, recorder->options->max_size);
            break;
        }
        if ((full || now >= recorder->segment_end) && !rotation_is_busy(recorder->rotation)) {
            result = next_segment(recorder, error);
            continue;
        }
        if (session_step(recorder->session, left_ms < STEP_MS ? (int)left_ms + 1 : STEP_MS, error))
            result = after_failure(recorder, error);
        if (result)
            break;
        reports->progress(reports->context, recorder->session, RECORDER_RECORDS);
        if (steering_step(recorder->options->steering, recorder->session, RECORDER_RECORDS))
            break;
    }
    reports->progress(reports->context, recorder->session, RECORDER_ENDS);
    return result;
}

/* If there are two errors, both have the same cause. The first is returned. */
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
                 const volatile int *stop, int fd, int *ret_fd, struct error *error)
{
    struct recorder own = recorder(session, options, stop, NULL);

    *ret_fd = -1;
    if (session_begin(session, fd, error))
        return -1;
    own.open = true;
    return end(&own, run(&own, error), ret_fd, error);
}

int recorder_run_segments(struct session *session, const struct recorder_options *options,
                          const volatile int *stop, struct rotation *rotation, struct error *error)
{
    struct recorder own = recorder(session, options, stop, rotation);
    int fd, result;

    if (begin_segment(&own, error))
        return -1;
    result = end(&own, run(&own, error), &fd, error);
    if (fd >= 0)
        rotation_write(rotation, fd, result == 0);
    return result;
}
