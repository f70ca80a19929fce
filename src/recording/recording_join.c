// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_join.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/events.h"
#include "profile/profile_remap.h"
#include "recording/recording_internal.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/memory_limit.h"

struct joined_recording {
    const char *name;
    struct recording *recording;
    struct profile *profile;
    struct profile_remap remap;
    event_id *events;        /* joined ids of its events, by id - 1 */
    uint64_t shift;          /* added to its times for joined times; wraps */
    bool has_next, is_whole; /* `next` is valid; all samples were read */
    struct sample next;      /* with the ids and the time of the part */
};

struct join {
    const struct join_options *options;
    struct joined_recording *parts;
    size_t count; /* of parts that are open */
    struct profile *profile;
    struct recording_writer *writer;
    struct recording_totals totals;
    struct event_summaries summaries;
    struct thread_times threads;
    struct target_lives lives;
    struct time_marks marks;
    struct event_spans spans, recorded;
    struct node_metrics node_metrics;
    uint64_t end; /* end of the part before, for JOIN_IN_TURN */
    int result;   /* -1: something failed; `error` has the first failure */
    struct error *error;
};

/* ---- reading ---- */

/* Add the spans of a part, from event `first` on. An event without spans gets one over the whole
 * part, because other parts can have spans of it. */
static void add_spans(const struct joined_recording *part, const struct event_spans *own,
                      event_id first, struct event_spans *spans)
{
    uint64_t start = recording_get_header(part->recording)->start_monotonic;
    uint64_t end = recording_get_totals(part->recording)->end_monotonic;

    event_spans_join(spans, part->events, own, part->shift);
    for (event_id id = first; id <= profile_counts(part->profile).events; id++)
        if (!event_spans_get(own, id))
            event_spans_add(spans, id ? part->events[id - 1] : 0, start + part->shift,
                            end + part->shift);
}

/* True if the event was recorded during the whole part. */
static bool is_recorded(const struct joined_recording *part, event_id event)
{
    for (event_id id = 1; id <= profile_counts(part->profile).events; id++)
        if (part->events[id - 1] == event)
            return !event_spans_get(recording_get_recorded(part->recording), id);
    return false;
}

/* An event that was recorded during all parts needs no list of the times in which it was. */
static void drop_recorded(struct join *join)
{
    for (event_id event = 1; event < join->recorded.count; event++) {
        size_t i = 0;

        while (i < join->count && (!join->parts[i].is_whole || is_recorded(&join->parts[i], event)))
            i++;
        if (i == join->count)
            event_spans_drop(&join->recorded, event);
    }
}

static void take_counts(struct join *join, struct joined_recording *part)
{
    const struct recording_totals *totals = recording_get_totals(part->recording);

    summary_join_totals(&join->totals, totals, part->shift);
    for (event_id id = 1; id <= profile_counts(part->profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(part->recording, id);

        if (summary)
            summary_join_events(&join->summaries, part->events[id - 1], &part->remap, summary);
    }
    summary_join_threads(&join->threads, &part->remap, recording_get_threads(part->recording),
                         part->shift);
    summary_join_lives(&join->lives, &part->remap, recording_get_lives(part->recording),
                       part->shift);
    summary_join_marks(&join->marks, &part->remap, recording_get_marks(part->recording),
                       part->shift);
    join->totals.losses[LOSS_METRICS] +=
        summary_join_node_metrics(&join->node_metrics, &part->remap,
                                  recording_get_node_metrics(part->recording), part->shift);
    add_spans(part, recording_get_spans(part->recording), 0, &join->spans);
    add_spans(part, recording_get_recorded(part->recording), 1, &join->recorded);
}

/* Read the next sample of a part. A damaged part has no more samples. */
static void advance(struct join *join, struct joined_recording *part)
{
    struct error own;
    bool cut;
    int got = recording_next(part->recording, part->profile, &part->next, &cut,
                             join->result ? &own : join->error);

    part->has_next = got > 0;
    part->is_whole = got == 0;
    if (got < 0)
        join->result = -1;
}

/* ---- checks ---- */

static bool has_cpu(const struct joined_recording *part)
{
    return event_find(part->profile, EVENT_CPU) != 0;
}

/* CPU samples can be added up only if they have the same clock. Without a frequency, their values
 * are no times. */
static int check_cpu(const struct join *join, struct error *error)
{
    const struct joined_recording *first = NULL;

    for (size_t i = 0; i < join->count; i++) {
        const struct joined_recording *part = &join->parts[i];
        const struct recording_header *one, *other;

        if (!has_cpu(part))
            continue;
        if (!first)
            first = part;
        one = recording_get_header(first->recording);
        other = recording_get_header(part->recording);
        if (!one->frequency != !other->frequency || strcmp(one->event, other->event) != 0)
            return error_set(error, ERROR_FAILED,
                             "%.120s has CPU samples by %s at %u Hz, and %.120s by %s at %u Hz: "
                             "such files can't be joined",
                             first->name, one->event, one->frequency, part->name, other->event,
                             other->frequency);
    }
    return 0;
}

/* Define the events of a part in the joined profile. An event that exists already must have the
 * same values. */
static int define_events(struct join *join, struct joined_recording *part, struct error *error)
{
    uint32_t count = profile_counts(part->profile).events;

    part->events = xcalloc(count, sizeof(*part->events));
    for (event_id id = 1; id <= count; id++) {
        uint32_t before = profile_counts(join->profile).events;
        const char *name = profile_text(part->profile, profile_get_event(part->profile, id)->name);
        bool is_known = event_find(join->profile, name) != 0;

        part->events[id - 1] = profile_remap_event(&part->remap, id);
        if (is_known && profile_counts(join->profile).events > before)
            return error_set(error, ERROR_FAILED,
                             "%.200s: event %.100s has other values than in the file before",
                             part->name, name);
    }
    return 0;
}

/* ---- time ---- */

/* Place the parts by their clocks. The joined recording begins with the earliest part. */
static void place_by_time(struct join *join, struct recording_header *header)
{
    struct recording_header base = *header;

    for (size_t i = 0; i < join->count; i++) {
        struct joined_recording *part = &join->parts[i];
        const struct recording_header *own = recording_get_header(part->recording);
        uint64_t start, before;

        part->shift = join_header_shift(&base, own);
        start = own->start_monotonic + part->shift;
        before = header->start_monotonic - start;
        if (join->options->starts)
            join->options->starts[i] = start;
        if (start >= header->start_monotonic)
            continue;
        header->start_monotonic -= before;
        header->start_realtime -= header->start_realtime ? before : 0;
    }
}

static void place_next(struct join *join, size_t i)
{
    struct joined_recording *part = &join->parts[i];
    uint64_t own = recording_get_header(part->recording)->start_monotonic;
    uint64_t start = i ? join->end + join->options->gap_ns : own;

    part->shift = start - own;
    if (join->options->starts)
        join->options->starts[i] = start;
}

/* ---- samples ---- */

static int put_sample(struct join *join, struct joined_recording *part)
{
    struct sample sample = part->next;

    sample.time += part->shift;
    sample.event = part->events[sample.event - 1];
    profile_remap_sample(&part->remap, &sample);
    join->totals.losses[LOSS_MEMORY] += profile_has_left_out(join->profile, &sample) &&
                                        !profile_has_left_out(part->profile, &part->next);
    return recording_append(join->writer, join->profile, &sample, join->error);
}

/* The part with the earliest next sample; NULL if no part has one. */
static struct joined_recording *earliest(struct join *join)
{
    struct joined_recording *first = NULL;

    for (size_t i = 0; i < join->count; i++) {
        struct joined_recording *part = &join->parts[i];

        if (part->has_next &&
            (!first || part->next.time + part->shift < first->next.time + first->shift))
            first = part;
    }
    return first;
}

static int join_by_time(struct join *join)
{
    struct joined_recording *part;

    while ((part = earliest(join))) {
        if (put_sample(join, part))
            return -1;
        advance(join, part);
    }
    return 0;
}

static int join_in_turn(struct join *join)
{
    for (size_t i = 0; i < join->count; i++) {
        struct joined_recording *part = &join->parts[i];
        uint64_t last = recording_get_header(part->recording)->start_monotonic;

        place_next(join, i);
        while (part->has_next) {
            last = part->next.time;
            if (put_sample(join, part))
                return -1;
            advance(join, part);
        }
        if (last < recording_get_totals(part->recording)->end_monotonic)
            last = recording_get_totals(part->recording)->end_monotonic;
        join->end = last + part->shift;
    }
    return 0;
}

/* ---- the joined recording ---- */

static int put_counts(struct join *join, struct error *error)
{
    for (size_t i = 0; i < join->count; i++)
        if (join->parts[i].is_whole)
            take_counts(join, &join->parts[i]);
    for (uint32_t i = 0; i < join->summaries.count; i++) {
        const struct event_summary *summary = &join->summaries.of[i];

        if (summary->event && recording_put_summary(join->writer, join->profile, summary, error))
            return -1;
    }
    event_spans_settle(&join->spans);
    event_spans_settle(&join->recorded);
    drop_recorded(join);
    if (recording_put_lives(join->writer, join->profile, &join->lives, error) ||
        recording_put_marks(join->writer, join->profile, &join->marks, error) ||
        recording_put_spans(join->writer, join->profile, &join->spans, error) ||
        recording_put_recorded(join->writer, join->profile, &join->recorded, error) ||
        recording_put_node_metrics(join->writer, join->profile, &join->node_metrics, error))
        return -1;
    if (!join->threads.count)
        return 0;
    join->totals.losses[LOSS_THREAD_TIMES] += thread_times_limit(&join->threads);
    return recording_put_threads(join->writer, join->profile, &join->threads, error);
}

static int put_all(struct join *join, int *ret_fd)
{
    struct error own;
    int failed = join->options->order == JOIN_BY_TIME ? join_by_time(join) : join_in_turn(join);

    if (!failed)
        failed = put_counts(join, join->result ? &own : join->error);
    if (failed)
        join->result = -1;
    if (recording_finish(join->writer, join->profile, &join->totals, ret_fd,
                         join->result ? &own : join->error))
        join->result = -1;
    return join->result;
}

/* Take the clock and the highest frequency from the parts with CPU samples, if there are any. */
static void take_sampling(const struct join *join, struct recording_header *header)
{
    const char *clock = NULL;
    uint32_t highest = 0;

    for (size_t i = 0; i < join->count; i++) {
        const struct recording_header *own = recording_get_header(join->parts[i].recording);

        if (!has_cpu(&join->parts[i]))
            continue;
        clock = own->event;
        if (own->frequency > highest)
            highest = own->frequency;
    }
    if (!clock)
        return;
    header->event = clock;
    header->frequency = highest;
}

/* Make the header of the joined recording, and place the parts in it. */
static void place(struct join *join, struct join_header *joined)
{
    const struct recording_header **headers = xcalloc(join->count, sizeof(*headers));

    for (size_t i = 0; i < join->count; i++)
        headers[i] = recording_get_header(join->parts[i].recording);
    join_header_make(joined, headers, join->count,
                     join->options->order == JOIN_BY_TIME ? join_header_first(headers, join->count)
                                                          : headers[0]);
    if (join->options->order == JOIN_BY_TIME)
        place_by_time(join, &joined->header);
    if (join->options->trigger)
        joined->header.trigger = join->options->trigger;
    for (size_t i = 0; joined->several_hosts && i < join->count; i++)
        if (headers[i]->hostname[0])
            join->parts[i].remap.host = headers[i]->hostname;
    take_sampling(join, &joined->header);
    for (size_t i = 0; i < join->count; i++)
        log_decision("recording", "%s is joined %s", join->parts[i].name,
                     join->options->order == JOIN_BY_TIME ? "by time" : "behind those before");
    free(headers);
}

/* Read each part up to its first sample: all of its events are known by then. */
static int begin(struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        advance(join, &join->parts[i]);
    for (size_t i = 0; i < join->count; i++)
        if (define_events(join, &join->parts[i], join->error))
            return -1;
    return check_cpu(join, join->error);
}

/* Takes ownership of `fd`. */
static int join_all(struct join *join, int fd, int *ret_fd)
{
    struct join_header joined;

    if (begin(join)) {
        close(fd);
        return -1;
    }
    place(join, &joined);
    join->writer = recording_create_fd(fd, &joined.header, join->error);
    join_header_free(&joined);
    return join->writer ? put_all(join, ret_fd) : -1;
}

/* Takes ownership of the descriptor. */
static int open_part(struct join *join, const struct join_part *part, struct error *error)
{
    struct joined_recording *opened = &join->parts[join->count];

    opened->recording = recording_open(part->fd, part->name, error);
    if (!opened->recording)
        return -1;
    opened->name = part->name;
    opened->profile = profile_new();
    opened->remap = (struct profile_remap){
        .from = opened->profile, .to = join->profile, .alike = join->options->alike};
    join->count++;
    return 0;
}

/* Takes ownership of all descriptors. */
static int open_all(struct join *join, const struct join_part *parts, size_t count)
{
    unsigned *unreadable = join->options->unreadable;
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        struct error own;

        if (open_part(join, &parts[i], result ? &own : join->error) == 0)
            continue;
        if (unreadable)
            ++*unreadable;
        else
            result = -1;
    }
    return join->count ? result : -1;
}

static void free_all(struct join *join)
{
    for (size_t i = 0; i < join->count; i++) {
        recording_close(join->parts[i].recording);
        profile_remap_free(&join->parts[i].remap);
        profile_free(join->parts[i].profile);
        free(join->parts[i].events);
    }
    free(join->parts);
    event_summaries_free(&join->summaries);
    thread_times_free(&join->threads);
    target_lives_free(&join->lives);
    time_marks_free(&join->marks);
    event_spans_free(&join->spans);
    event_spans_free(&join->recorded);
    node_metrics_free(&join->node_metrics);
    profile_free(join->profile);
}

int recording_join(const struct join_part *parts, size_t count, const struct join_options *options,
                   int fd, int *ret_fd, struct error *error)
{
    struct join join = {
        .options = options,
        .parts = xcalloc(count, sizeof(struct joined_recording)),
        .profile = profile_new(),
        .error = error,
    };
    int result;

    *ret_fd = -1;
    profile_limit(join.profile, memory_limit());
    result = open_all(&join, parts, count);
    if (result)
        close(fd);
    else
        result = join_all(&join, fd, ret_fd);
    free_all(&join);
    return result;
}
