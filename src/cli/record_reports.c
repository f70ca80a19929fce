// SPDX-License-Identifier: Apache-2.0
#include "cli/record_reports.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/render.h"
#include "cli/verbose.h"
#include "util/clock.h"

static const uint64_t INTERVAL_NS = 500000000;

/* ---- progress ---- */

static void clear_progress(const struct progress *progress)
{
    if (progress->live)
        fprintf(stderr, "\r\033[K");
}

static void show_progress(const struct session *session, enum recorder_state state)
{
    static const char *const words[] = {
        [RECORDER_WAITS] = "waiting  ", [RECORDER_FIRED] = "recording  ", [RECORDER_RECORDS] = ""};
    struct session_status status = session_status(session);

    fprintf(stderr, "\r\033[K%s%.0f s  %llu samples (%.0f/s)  %llu lost", words[state],
            status.seconds, (unsigned long long)status.samples,
            (double)status.samples / status.seconds, (unsigned long long)status.lost);
    if (status.busiest[0])
        fprintf(stderr, "  busiest: %s %.0f%%", status.busiest, status.busiest_share * 100);
    fflush(stderr);
}

/* Show the line, at most twice a second. */
static void report_progress(void *context, const struct session *session, enum recorder_state state)
{
    struct progress *progress = context;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (state == RECORDER_ENDS)
        clear_progress(progress);
    else if (progress->live && now - progress->shown >= INTERVAL_NS) {
        progress->shown = now;
        show_progress(session, state);
    }
}

/* ---- what happened ---- */

static void report_failed(void *context, const struct error *error)
{
    (void)context;
    message_error(error);
}

static void report_wrote(void *context, const char *path)
{
    if (!((const struct progress *)context)->quiet)
        message_say("wrote %s", path);
}

static void report_empty(void *context, const struct output_request *request)
{
    (void)context;
    render_say_empty(request);
}

static void report_full(void *context, uint64_t max_size)
{
    if (!((const struct progress *)context)->quiet)
        message_say("the recording ends: it has reached the %llu bytes of --max-size",
                    (unsigned long long)max_size);
}

static void report_fired(void *context, const char *trigger, double before, double after)
{
    const struct progress *progress = context;

    clear_progress(progress);
    if (!progress->quiet)
        message_say("trigger %s; recording from %.1f s before to %g s after", trigger, before,
                    after);
}

struct rotation_reports record_reports(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.quiet = quiet, .live = !quiet && isatty(STDERR_FILENO)};
    return (struct rotation_reports){
        .context = progress,
        .warn = message_warning,
        .failed = report_failed,
        .wrote = report_wrote,
        .empty = report_empty,
        .progress = report_progress,
        .full = report_full,
        .fired = report_fired,
        .log_file = verbose_file(),
    };
}

int record_say_segments(const struct rotation_counts *counts)
{
    if (counts->late)
        message_warning(
            "%u segments are longer than requested, because the one before was still being written",
            counts->late);
    if (counts->cut)
        message_warning("%u segments ended early; what they have is kept", counts->cut);
    if (counts->failed)
        message_warning("%u of %u segments could not be written completely", counts->failed,
                        counts->written + counts->empty + counts->failed);
    if (counts->failed || counts->cut)
        return ERROR_FAILED;
    return counts->empty && !counts->written ? ERROR_NO_SAMPLES : 0;
}
