// SPDX-License-Identifier: Apache-2.0
/* Reads a recording, and keeps what it contains. */
#pragma once

#include "small_profile.h"

#include "recording/recording_internal.h"

#define MAX_SEEN 1000

struct seen {
    struct sample samples[MAX_SEEN];
    size_t count;
    struct profile *profile;
    bool cut;
    struct recording_totals totals;
    struct event_summary summary; /* of event 1; event 0: none */
    struct event_histogram histograms[2];
    struct event_tally tallies[2];
};

static inline int see(void *context, const struct sample *sample, struct error *error)
{
    struct seen *seen = context;
    struct profile_counts counts = profile_counts(seen->profile);

    (void)error;
    assert_true(seen->count < MAX_SEEN);
    assert_in_range(sample->event, 1, counts.events);
    assert_true(sample->stack <= counts.stacks && sample->peer <= counts.processes &&
                sample->process <= counts.processes && sample->thread <= counts.threads &&
                sample->detail <= counts.strings);
    seen->samples[seen->count++] = *sample;
    return 0;
}

static inline void see_summary(struct seen *seen, const struct event_summary *summary)
{
    if (!summary)
        return;
    seen->summary = *summary;
    seen->summary.histograms = NULL;
    for (size_t i = 0; i < summary->histogram_count && i < 2; i++)
        seen->histograms[i] = summary->histograms[i];
    seen->summary.tallies = NULL;
    for (size_t i = 0; i < summary->tally_count && i < 2; i++)
        seen->tallies[i] = summary->tallies[i];
}

static inline void seen_free(struct seen *seen)
{
    profile_free(seen->profile);
}

/* Read all; -1 with error if the file is malformed. */
static inline int read_fd(int fd, struct seen *seen, struct error *error)
{
    struct recording *recording;
    int result;

    *seen = (struct seen){.profile = profile_new()};
    *error = (struct error){0};
    recording = recording_open(fd, "test.bfr", error);
    if (!recording)
        return -1;
    result = recording_read(recording, seen->profile, see, seen, &seen->cut, error);
    seen->totals = *recording_get_totals(recording);
    see_summary(seen, recording_get_summary(recording, 1));
    recording_close(recording);
    return result;
}

static inline int read_bytes(const void *bytes, size_t size, struct seen *seen, struct error *error)
{
    return read_fd(memory_file_of(bytes, size), seen, error);
}

static inline void assert_same_sample(const struct sample *a, const struct sample *b)
{
    assert_int_equal(a->time, b->time);
    assert_memory_equal(a->values, b->values, sizeof(a->values));
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->stack, b->stack);
    assert_int_equal(a->process, b->process);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->detail, b->detail);
    assert_int_equal(a->trace_span, b->trace_span);
    assert_int_equal(a->slice, b->slice);
    assert_int_equal(a->cpu, b->cpu);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->activity, b->activity);
    assert_int_equal(a->microstate, b->microstate);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->metrics.known, b->metrics.known);
    assert_memory_equal(a->metrics.values, b->metrics.values, sizeof(a->metrics.values));
}
