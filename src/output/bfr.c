// SPDX-License-Identifier: Apache-2.0
/*
 * A recording as output: samples, tables and counts are written again. If only some events are
 * selected, the new recording has tables of its own, without entries of other events.
 */
#include "output/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "profile/profile_remap.h"
#include "recording/recording_internal.h"
#include "util/alloc.h"
#include "util/memory_limit.h"

/* The tables of some events. */
struct bfr_copy {
    struct profile *profile; /* NULL: the recording is written as a whole */
    struct profile_remap remap;
    event_id *events;  /* ids in `profile`, by id in the source */
    uint64_t left_out; /* samples that have lost their callers or process by the copy */
};

struct bfr {
    struct output_source source;
    struct recording_writer *writer;
    struct bfr_copy part;
};

static void begin_part(struct bfr_copy *part, const struct output_source *source)
{
    const struct profile *profile = source->profile;
    uint32_t events = profile_counts(profile).events;

    if (!source->events->has)
        return;
    part->profile = profile_new();
    profile_limit(part->profile, memory_limit());
    part->remap = (struct profile_remap){.from = profile, .to = part->profile};
    part->events = xcalloc(events + 1, sizeof(*part->events));
    for (event_id id = 1; id <= events; id++)
        if (output_source_selects(source, id))
            part->events[id] = profile_remap_event(&part->remap, id);
}

static void free_part(struct bfr_copy *part)
{
    profile_remap_free(&part->remap);
    profile_free(part->profile);
    free(part->events);
}

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
    begin_part(&bfr->part, source);
    return bfr;
}

static int bfr_sample(void *state, const struct sample *sample, struct error *error)
{
    struct bfr *bfr = state;
    struct bfr_copy *part = &bfr->part;
    struct sample own = *sample;

    if (!part->profile)
        return recording_append(bfr->writer, bfr->source.profile, sample, error);
    own.event = part->events[sample->event];
    profile_remap_sample(&part->remap, &own);
    part->left_out += profile_has_left_out(part->profile, &own) &&
                      !profile_has_left_out(bfr->source.profile, sample);
    return recording_append(bfr->writer, part->profile, &own, error);
}

static bool has_cpu(const struct profile *profile)
{
    return event_find(profile, EVENT_CPU) != 0;
}

static int put_summaries(struct bfr *bfr, const struct event_summaries *summaries,
                         struct error *error)
{
    for (uint32_t i = 0; i < summaries->count; i++)
        if (summaries->of[i].event &&
            recording_put_summary(bfr->writer, bfr->part.profile, &summaries->of[i], error))
            return -1;
    return 0;
}

/* Write the counts with the ids of the part's tables. Times of threads belong to event cpu. */
static int put_counted_part(struct bfr *bfr, struct error *error)
{
    const struct recording *recording = bfr->source.recording;
    struct bfr_copy *part = &bfr->part;
    struct event_summaries summaries = {0};
    struct thread_times threads = {0};
    struct target_lives lives = {0};
    struct time_marks marks = {0};
    struct event_spans spans = {0}, recorded = {0};
    struct node_metrics metrics = {0};
    int result;

    for (event_id id = 1; id <= profile_counts(bfr->source.profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(recording, id);

        if (summary && part->events[id])
            summary_join_events(&summaries, part->events[id], &part->remap, summary);
    }
    if (has_cpu(part->profile))
        summary_join_threads(&threads, &part->remap, recording_get_threads(recording), 0);
    summary_join_lives(&lives, &part->remap, recording_get_lives(recording), 0);
    summary_join_marks(&marks, &part->remap, recording_get_marks(recording), 0);
    event_spans_join(&spans, part->events + 1, recording_get_spans(recording), 0);
    event_spans_join(&recorded, part->events + 1, recording_get_recorded(recording), 0);
    summary_join_node_metrics(&metrics, &part->remap, recording_get_node_metrics(recording), 0);
    result = put_summaries(bfr, &summaries, error);
    if (!result)
        result = recording_put_lives(bfr->writer, part->profile, &lives, error);
    if (!result)
        result = recording_put_marks(bfr->writer, part->profile, &marks, error);
    if (!result)
        result = recording_put_spans(bfr->writer, part->profile, &spans, error);
    if (!result)
        result = recording_put_recorded(bfr->writer, part->profile, &recorded, error);
    if (!result)
        result = recording_put_node_metrics(bfr->writer, part->profile, &metrics, error);
    if (!result && threads.count)
        result = recording_put_threads(bfr->writer, part->profile, &threads, error);
    event_summaries_free(&summaries);
    thread_times_free(&threads);
    target_lives_free(&lives);
    time_marks_free(&marks);
    event_spans_free(&spans);
    event_spans_free(&recorded);
    node_metrics_free(&metrics);
    return result;
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
                            error) ||
        recording_put_marks(bfr->writer, profile, recording_get_marks(bfr->source.recording),
                            error) ||
        recording_put_spans(bfr->writer, profile, recording_get_spans(bfr->source.recording),
                            error) ||
        recording_put_recorded(bfr->writer, profile, recording_get_recorded(bfr->source.recording),
                               error) ||
        recording_put_node_metrics(bfr->writer, profile,
                                   recording_get_node_metrics(bfr->source.recording), error))
        return -1;
    return threads->count ? recording_put_threads(bfr->writer, profile, threads, error) : 0;
}

static int bfr_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct recording_totals copy = totals ? *totals : (struct recording_totals){0};
    struct bfr *bfr = state;
    const struct bfr_copy *part = &bfr->part;
    const struct profile *profile = part->profile ? part->profile : bfr->source.profile;
    struct error put_error = {0};
    int put = 0, result;

    if (totals)
        put = part->profile ? put_counted_part(bfr, &put_error) : put_counted(bfr, &put_error);
    if (part->profile && !has_cpu(profile))
        copy.cpu_samples = copy.cpu_sampled_ns = copy.cpu_accounted_ns = 0;
    copy.losses[LOSS_MEMORY] += part->left_out;
    result = recording_finish(bfr->writer, profile, &copy, NULL, error);
    free_part(&bfr->part);
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
