// SPDX-License-Identifier: Apache-2.0
#include "session/segment.h"

#include <stdlib.h>
#include <unistd.h>

#include "os/process.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/memory_limit.h"

struct segment *segment_new(const struct session_options *options, const struct segment *before)
{
    struct segment *segment = xcalloc(1, sizeof(*segment));

    segment->profile = profile_new();
    profile_limit(segment->profile, memory_limit());
    segment->held = UINT64_MAX;
    if (options->cpu)
        segment->cpu = event_define(segment->profile, EVENT_CPU);
    if (options->wall)
        segment->wall = event_define(segment->profile, EVENT_WALL);
    if (before) {
        segment->begin = before->totals.end_monotonic;
        segment->lost_before = before->lost_before + before->totals.losses[LOSS_RING_FULL];
        segment->cpu_ns_before = before->cpu_ns_before + before->totals.profiler_cpu_ns;
    }
    return segment;
}

void segment_free(struct segment *segment)
{
    struct error ignored;

    if (!segment)
        return;
    if (segment->writer)
        recording_finish(segment->writer, segment->profile, &segment->totals, NULL, &ignored);
    profile_free(segment->profile);
    thread_times_free(&segment->threads);
    target_lives_free(&segment->lives);
    time_marks_free(&segment->marks);
    event_spans_free(&segment->spans);
    node_metrics_free(&segment->node_metrics);
    free(segment);
}

int segment_open(struct segment *segment, int fd, const struct recording_header *header,
                 struct error *error)
{
    struct recording_header own = *header;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (!segment->begin)
        segment->begin = now;
    own.start_monotonic = segment->begin;
    own.start_realtime = clock_ns(CLOCK_REALTIME) - (now - segment->begin);
    segment->writer = recording_create_fd(fd, &own, error);
    log_detail("recording", "a recording begins");
    return segment->writer ? 0 : -1;
}

int segment_append(struct segment *segment, const struct sample *sample, struct error *error)
{
    struct sample own = *sample;

    if (own.time < segment->begin)
        own.time = segment->begin;
    if (own.time > segment->newest)
        segment->newest = own.time;
    if (profile_has_left_out(segment->profile, &own)) {
        segment->totals.losses[LOSS_MEMORY]++;
        if (profile_process_is_left_out(segment->profile, own.process))
            own.metrics = (struct metrics){0}; /* they are of many processes */
    }
    segment->totals.samples += !own.is_part;
    return recording_append(segment->writer, segment->profile, &own, error);
}

void segment_set_held(struct segment *segment, uint64_t time)
{
    segment->held = time;
    recording_writer_wait_for(segment->writer, time);
}

void segment_looked(struct segment *segment, uint64_t time)
{
    recording_writer_looked(segment->writer, time);
}

void segment_hold(struct segment *segment, uint64_t time)
{
    if (time < segment->held)
        segment_set_held(segment, time);
}

static void update_totals(struct segment *segment, uint64_t lost)
{
    struct recording_totals *totals = &segment->totals;
    uint64_t peak;

    totals->end_monotonic = clock_ns(CLOCK_MONOTONIC);
    totals->losses[LOSS_RING_FULL] = lost - segment->lost_before;
    totals->profiler_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - segment->cpu_ns_before;
    if (process_peak_resident_bytes(getpid(), &peak))
        totals->peak_rss_kb = peak / 1024;
}

int segment_flush(struct segment *segment, uint64_t lost, struct error *error)
{
    update_totals(segment, lost);
    return recording_flush(segment->writer, segment->profile, &segment->totals, error);
}

int segment_finish(struct segment *segment, uint64_t lost, int *ret_fd, struct error *error)
{
    struct recording_writer *writer = segment->writer;

    update_totals(segment, lost);
    log_detail("recording", "a recording ends: %.1f s, %llu samples, %llu bytes",
               (double)(segment->totals.end_monotonic - segment->begin) / 1e9,
               (unsigned long long)segment->totals.samples,
               (unsigned long long)recording_writer_size(segment->writer));
    segment->writer = NULL;
    return recording_finish(writer, segment->profile, &segment->totals, ret_fd, error);
}
