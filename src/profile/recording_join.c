// SPDX-License-Identifier: Apache-2.0
#include "profile/recording_join.h"

#include <stdlib.h>
#include <unistd.h>

#include "profile/carry.h"
#include "profile/summary_join.h"
#include "util/alloc.h"

struct join {
    struct profile *profile;
    struct recording_writer *writer;
    struct recording_totals totals;
    struct event_summaries summaries;
    struct thread_times threads;
    /* Of the one that is read: */
    struct profile *from;
    event_id events; /* those that are defined in `profile` already */
};

/* The same events are in all, in the same order; they come before the first sample. */
static void define_events(struct join *join)
{
    while (join->events < profile_counts(join->from).events) {
        struct event_entry event = *profile_get_event(join->from, ++join->events);

        event.name = carry_string(join->from, event.name, join->profile);
        for (uint32_t i = 0; i < event.value_count; i++)
            event.values[i].name = carry_string(join->from, event.values[i].name, join->profile);
        profile_event(join->profile, &event);
    }
}

static int take(void *context, const struct sample *sample, struct error *error)
{
    struct join *join = context;
    struct sample own = *sample;

    define_events(join);
    carry_sample(join->from, &own, join->profile);
    return recording_append(join->writer, join->profile, &own, error);
}

static void take_counts(struct join *join, const struct recording *recording)
{
    define_events(join);
    totals_join(&join->totals, recording_get_totals(recording));
    for (event_id id = 1; id <= profile_counts(join->from).events; id++) {
        const struct event_summary *summary = recording_get_summary(recording, id);

        if (summary)
            event_summaries_join(&join->summaries, id, join->from, summary, join->profile);
    }
    thread_times_join(&join->threads, join->from, recording_get_threads(recording), join->profile);
}

static int read_one(struct join *join, struct recording *recording, struct error *error)
{
    bool cut;
    int result;

    join->from = profile_new();
    join->events = profile_counts(join->profile).events;
    result = recording_read(recording, join->from, take, join, &cut, error);
    if (!result)
        take_counts(join, recording);
    profile_free(join->from);
    return result;
}

static int put_counts(struct join *join, struct error *error)
{
    for (uint32_t i = 0; i < join->summaries.count; i++) {
        const struct event_summary *summary = &join->summaries.of[i];

        if (summary->event && recording_put_summary(join->writer, join->profile, summary, error))
            return -1;
    }
    if (!join->threads.count)
        return 0;
    return recording_put_threads(join->writer, join->profile, &join->threads, error);
}

static int open_writer(struct join *join, const struct recording *first, const char *occasion,
                       int fd, struct error *error)
{
    struct recording_header header = *recording_get_header(first);

    header.occasion = occasion;
    join->writer = recording_create_fd(fd, &header, error);
    return join->writer ? 0 : -1;
}

/* What is written stays valid if one of them can't be read. */
static int join_all(struct join *join, struct recording *const *recordings, size_t count,
                    int *ret_fd, struct error *error)
{
    struct error own;
    int result = 0;

    for (size_t i = 0; !result && i < count; i++)
        result = read_one(join, recordings[i], error);
    if (!result)
        result = put_counts(join, error);
    if (recording_finish(join->writer, join->profile, &join->totals, ret_fd, &own) && !result) {
        *error = own;
        result = -1;
    }
    return result;
}

/* Takes over all descriptors; NULL stands for those that can't be read. */
static int open_all(const int *fds, size_t count, struct recording **recordings,
                    struct error *error)
{
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        struct error own;

        recordings[i] = recording_open(fds[i], "a part that was kept", &own);
        if (!recordings[i] && !result) {
            *error = own;
            result = -1;
        }
    }
    return result;
}

int recording_join(const int *fds, size_t count, const char *occasion, int fd, int *ret_fd,
                   struct error *error)
{
    struct recording **recordings = xcalloc(count, sizeof(struct recording *));
    struct join join = {.profile = profile_new()};
    int result = open_all(fds, count, recordings, error);

    *ret_fd = -1;
    if (result)
        close(fd);
    else if (open_writer(&join, recordings[0], occasion, fd, error))
        result = -1;
    else
        result = join_all(&join, recordings, count, ret_fd, error);
    for (size_t i = 0; i < count; i++)
        recording_close(recordings[i]);
    free(recordings);
    event_summaries_free(&join.summaries);
    thread_times_free(&join.threads);
    profile_free(join.profile);
    return result;
}
