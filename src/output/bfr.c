// SPDX-License-Identifier: Apache-2.0
/* A recording as output: samples (of all events), tables and counts are written again. */
#include "output/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

struct bfr {
    struct output_source source;
    struct recording_writer *writer;
};

static void *bfr_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct recording_writer *writer;
    struct bfr *bfr;
    int fd;

    if (fileno(file) < 0) {
        error_set(error, ERROR_USAGE, "a recording is already compressed: use a name without .gz");
        return NULL;
    }
    fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        error_set(error, ERROR_FAILED, "can't write the recording: %s", strerror(errno));
        return NULL;
    }
    writer = recording_create_fd(fd, source->header, error);
    if (!writer)
        return NULL;
    bfr = xcalloc(1, sizeof(*bfr));
    bfr->source = *source;
    bfr->writer = writer;
    return bfr;
}

static int bfr_sample(void *state, const struct sample *sample, struct error *error)
{
    struct bfr *bfr = state;

    return recording_append(bfr->writer, bfr->source.profile, sample, error);
}

static int put_counted(struct bfr *bfr, struct error *error)
{
    const struct profile *profile = bfr->source.profile;
    const struct thread_times *threads = recording_get_threads(bfr->source.recording);

    for (event_id id = 1; id <= profile_counts(profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(bfr->source.recording, id);

        if (summary && recording_put_summary(bfr->writer, profile, summary, error))
            return -1;
    }
    if (recording_put_lives(bfr->writer, profile, recording_get_lives(bfr->source.recording),
                            error))
        return -1;
    return threads->count ? recording_put_threads(bfr->writer, profile, threads, error) : 0;
}

static int bfr_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct recording_totals copy = totals ? *totals : (struct recording_totals){0};
    struct bfr *bfr = state;
    struct error put_error;
    int put = totals ? put_counted(bfr, &put_error) : 0;
    int result = recording_finish(bfr->writer, bfr->source.profile, &copy, NULL, error);

    free(bfr);
    if (put)
        *error = put_error;
    return put ? put : result;
}

const struct output_format bfr_format = {
    .name = "bfr",
    .suffixes = {".bfr"},
    .lists_idle = true,
    .begin = bfr_begin,
    .sample = bfr_sample,
    .finish = bfr_finish,
};
