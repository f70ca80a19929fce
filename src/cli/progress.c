// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"

static const uint64_t INTERVAL_NS = 500000000;

struct progress progress_new(const struct record_options *options)
{
    return (struct progress){.live = !options->output.quiet && isatty(STDERR_FILENO)};
}

void progress_show(struct progress *progress, const struct session *session, const char *state)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct session_status status;

    if (!progress->live || now - progress->shown < INTERVAL_NS)
        return;
    progress->shown = now;
    status = session_status(session);
    fprintf(stderr, "\r\033[K%s%.0f s  %llu samples (%.0f/s)  %llu lost", state, status.seconds,
            (unsigned long long)status.samples, (double)status.samples / status.seconds,
            (unsigned long long)status.lost);
    if (status.busiest[0])
        fprintf(stderr, "  busiest: %s %.0f%%", status.busiest, status.busiest_share * 100);
    fflush(stderr);
}

void progress_clear(const struct progress *progress)
{
    if (progress->live)
        fprintf(stderr, "\r\033[K");
}
