// SPDX-License-Identifier: Apache-2.0
#include "rotation/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rotation/steering.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/memory_limit.h"

enum {
    SEGMENTS = 5, /* that span the time before; up to two more may be recorded */
};

static const uint64_t SECOND = 1000000000;
static const uint64_t SEGMENT_MOST = 60000000000;

/* The share of the memory that kept segments may take, if no size is requested. */
enum { KEPT_SHARE = 4 };

struct kept_segment {
    int fd;              /* reads the segment */
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    uint64_t bytes;
};

/* The newest segments, in memory. All zero is empty. The oldest segment comes first. */
struct kept_segments {
    struct kept_segment *list;
    size_t count, room;
    uint64_t bytes; /* of all */
};

struct triggered {
    struct session *session;
    const struct recorder_options *options;
    const volatile int *stop;
    struct rotation *rotation;
    struct kept_segments kept;
    uint64_t segment_ns, bytes_most;
    uint64_t end, segment_begin; /* CLOCK_MONOTONIC */
    uint64_t ready;              /* the earliest next firing */
    uint64_t until;              /* end of the recording that a trigger began; 0: none */
    time_t fired_at;             /* seconds since 1970 */
    char *trigger;
    unsigned fired;
    bool open; /* a segment is in progress */
    bool paused;
};

static uint64_t ns(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

static struct triggered triggered(struct session *session, const struct recorder_options *options,
                                  const volatile int *stop, struct rotation *rotation)
{
    uint64_t segment = ns(options->before) / SEGMENTS;

    return (struct triggered){
        .session = session,
        .options = options,
        .stop = stop,
        .rotation = rotation,
        .segment_ns = segment < SECOND         ? SECOND
                      : segment > SEGMENT_MOST ? SEGMENT_MOST
                                               : segment,
        .bytes_most = options->max_size ? options->max_size : memory_limit() / KEPT_SHARE,
        .end =
            options->duration > 0 ? clock_ns(CLOCK_MONOTONIC) + ns(options->duration) : UINT64_MAX,
    };
}

/* ---- kept segments ---- */

static void keep(struct kept_segments *kept, struct kept_segment segment)
{
    kept->list = xgrow(kept->list, &kept->room, kept->count, sizeof(*kept->list));
    kept->list[kept->count++] = segment;
    kept->bytes += segment.bytes;
}

/* Drop the segments that ended before `time`, and then the oldest ones while the segments have more
 * than `bytes` bytes in total. */
static void drop_kept(struct kept_segments *kept, uint64_t time, uint64_t bytes)
{
    size_t old = 0;

    while (old < kept->count && (kept->list[old].end < time || kept->bytes > bytes)) {
        close(kept->list[old].fd);
        kept->bytes -= kept->list[old++].bytes;
    }
    kept->count -= old;
    if (old)
        memmove(kept->list, kept->list + old, kept->count * sizeof(*kept->list));
}

/* ---- segments ---- */

static int begin_segment(struct triggered *triggered, struct error *error)
{
    int fd = memfd_create("beamflame", MFD_CLOEXEC);

    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't record into memory: %s", strerror(errno));
    if (session_begin(triggered->session, fd, error))
        return -1;
    triggered->segment_begin = clock_ns(CLOCK_MONOTONIC);
    triggered->open = true;
    return 0;
}

/* If a segment fails, what was recorded of it is kept. */
static int end_segment(struct triggered *triggered, struct error *error)
{
    uint64_t bytes = session_status(triggered->session).segment_bytes;
    int fd, ended = session_end(triggered->session, &fd, error);

    triggered->open = false;
    if (fd < 0)
        return ended;
    keep(&triggered->kept, (struct kept_segment){
                               .fd = fd,
                               .begin = triggered->segment_begin,
                               .end = clock_ns(CLOCK_MONOTONIC),
                               .bytes = bytes,
                           });
    return ended;
}

static int next_segment(struct triggered *triggered, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), before = ns(triggered->options->before);

    if (end_segment(triggered, error))
        return -1;
    drop_kept(&triggered->kept, now > before ? now - before : 0, triggered->bytes_most);
    return begin_segment(triggered, error);
}

/* ---- when it fires ---- */

/* The start of what is recorded. */
static uint64_t kept_since(const struct triggered *triggered)
{
    return triggered->kept.count ? triggered->kept.list[0].begin : triggered->segment_begin;
}

static void mark(struct triggered *triggered, const char *trigger)
{
    char *label = xasprintf("trigger %s", trigger);

    if (triggered->open)
        session_mark_finding(triggered->session, label);
    free(label);
}

static void fire(struct triggered *triggered, const char *trigger, double after)
{
    const struct rotation_reports *reports = triggered->options->reports;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    reports->fired(reports->context, trigger, (double)(now - kept_since(triggered)) / 1e9, after);
    mark(triggered, trigger);
    triggered->trigger = xstrdup(trigger);
    triggered->fired_at = time(NULL);
    triggered->fired++;
    triggered->until = now + ns(after);
    triggered->ready = now + ns(triggered->options->holdoff);
}

/* Hand all kept segments to the rotation. */
static int write_kept(struct triggered *triggered, bool whole, struct error *error)
{
    struct kept_segments *kept = &triggered->kept;
    int file = rotation_create(triggered->rotation, triggered->fired_at, error);
    int *fds = xcalloc(kept->count + 1, sizeof(*fds));

    for (size_t i = 0; i < kept->count; i++)
        fds[i] = kept->list[i].fd;
    if (file < 0)
        rotation_keep(triggered->rotation, fds, kept->count, triggered->trigger);
    else
        rotation_join(triggered->rotation, fds, kept->count, triggered->trigger, file, whole);
    free(fds);
    kept->count = 0; /* the rotation owns their descriptors */
    kept->bytes = 0;
    return file < 0 ? -1 : 0;
}

static int finish(struct triggered *triggered, bool whole, struct error *error)
{
    int result = triggered->kept.count ? write_kept(triggered, whole, error) : 0;

    free(triggered->trigger);
    triggered->trigger = NULL;
    triggered->until = 0;
    return result;
}

/* ---- the run ---- */

static bool is_over(const struct triggered *triggered, uint64_t now)
{
    uint64_t bytes;

    if (!triggered->until)
        return false;
    bytes = triggered->kept.bytes + session_status(triggered->session).segment_bytes;
    return (now >= triggered->until || bytes >= triggered->bytes_most) &&
           !rotation_is_busy(triggered->rotation);
}

/* Fire the exit trigger if one of several nodes has ended. */
static void fire_at_end_of_one(struct triggered *triggered)
{
    pid_t ended = session_take_ended(triggered->session);
    char text[64];

    if (!ended || !triggered->options->fires_at_exit || triggered->until)
        return;
    snprintf(text, sizeof(text), "exit: process %d has ended", (int)ended);
    fire(triggered, text, triggered->options->after);
}

static int take(struct triggered *triggered, uint64_t now, struct error *error)
{
    const char *fires;

    if (is_over(triggered, now)) {
        if (end_segment(triggered, error) || finish(triggered, true, error))
            return -1;
        return begin_segment(triggered, error);
    }
    if (!triggered->until && now >= triggered->segment_begin + triggered->segment_ns)
        return next_segment(triggered, error);
    if (session_step(triggered->session, triggered->options->step_ms, error))
        return -1;
    fires = session_look(triggered->session, !triggered->until && now >= triggered->ready);
    if (fires)
        fire(triggered, fires, triggered->options->after);
    else
        fire_at_end_of_one(triggered);
    return 0;
}

static enum recorder_state state_of(const struct triggered *triggered)
{
    if (triggered->paused)
        return RECORDER_PAUSED;
    return triggered->until ? RECORDER_FIRED : RECORDER_WAITS;
}

static int pause_recording(void *context, struct error *error)
{
    struct triggered *triggered = context;

    session_pause(triggered->session);
    triggered->paused = true;
    return end_segment(triggered, error);
}

static int resume_recording(void *context, struct error *error)
{
    struct triggered *triggered = context;

    if (begin_segment(triggered, error))
        return -1;
    triggered->paused = false;
    session_resume(triggered->session);
    return 0;
}

/* Take a step, and do what others request. Return 0, 1 if the run ends, or -1 with error. */
static int take_turn(struct triggered *triggered, uint64_t now, struct error *error)
{
    const struct rotation_reports *reports = triggered->options->reports;
    const struct steering_actions actions = {.context = triggered,
                                             .pause = pause_recording,
                                             .resume = resume_recording,
                                             .warn = reports->warn};

    if (triggered->paused)
        poll(NULL, 0, triggered->options->step_ms);
    else if (take(triggered, now, error))
        return -1;
    reports->progress(reports->context, triggered->session, state_of(triggered));
    return steering_step(triggered->options->steering, triggered->session, state_of(triggered),
                         &actions, error);
}

static int run(struct triggered *triggered, struct error *error)
{
    const struct rotation_reports *reports = triggered->options->reports;
    int result = 0;

    while (!result && !*triggered->stop && session_alive(triggered->session)) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);

        if (now >= triggered->end)
            break;
        result = take_turn(triggered, now, error);
    }
    reports->progress(reports->context, triggered->session, RECORDER_ENDS);
    return result < 0 ? -1 : 0;
}

/* Fire the exit trigger if the node has ended. Nothing else would be recorded of it. */
static void fire_on_exit(struct triggered *triggered)
{
    if (triggered->options->fires_at_exit && !triggered->until &&
        !session_alive(triggered->session))
        fire(triggered, "exit: the node has ended", 0);
}

/* Write what was recorded, also after a failure. */
static int end(struct triggered *triggered, int result, struct error *error)
{
    struct error own;

    session_stop(triggered->session);
    fire_on_exit(triggered);
    if (triggered->open && end_segment(triggered, &own) && !result) {
        *error = own;
        result = -1;
    }
    if (triggered->until && finish(triggered, result == 0, &own) && !result) {
        *error = own;
        result = -1;
    }
    drop_kept(&triggered->kept, UINT64_MAX, 0);
    free(triggered->kept.list);
    free(triggered->trigger);
    if (!result && !triggered->fired)
        return error_set(error, ERROR_NO_SAMPLES, "no trigger fired, so nothing was recorded");
    return result;
}

int triggered_run(struct session *session, const struct recorder_options *options,
                  const volatile int *stop, struct rotation *rotation, struct error *error)
{
    struct triggered own = triggered(session, options, stop, rotation);
    int result = begin_segment(&own, error);

    if (!result)
        result = run(&own, error);
    return end(&own, result, error);
}
