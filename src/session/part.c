// SPDX-License-Identifier: Apache-2.0
#include "session/part.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"

struct part *part_new(const struct session_options *options, const struct part *before)
{
    struct part *part = xcalloc(1, sizeof(*part));

    part->profile = profile_new();
    if (options->cpu)
        part->cpu = event_define(part->profile, EVENT_CPU);
    if (options->wall)
        part->wall = event_define(part->profile, EVENT_WALL);
    if (before) {
        part->begin = before->totals.end_monotonic;
        part->lost_before = before->lost_before + before->totals.losses[LOSS_RING_FULL];
        part->cpu_ns_before = before->cpu_ns_before + before->totals.profiler_cpu_ns;
    }
    return part;
}

void part_free(struct part *part)
{
    struct error ignored;

    if (!part)
        return;
    if (part->writer)
        recording_finish(part->writer, part->profile, &part->totals, NULL, &ignored);
    profile_free(part->profile);
    thread_times_free(&part->threads);
    free(part);
}

int part_open(struct part *part, int fd, const struct recording_header *header, struct error *error)
{
    struct recording_header own = *header;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (!part->begin)
        part->begin = now;
    own.start_monotonic = part->begin;
    own.start_realtime = clock_ns(CLOCK_REALTIME) - (now - part->begin);
    part->writer = recording_create_fd(fd, &own, error);
    return part->writer ? 0 : -1;
}

int part_append(struct part *part, const struct sample *sample, struct error *error)
{
    struct sample own = *sample;

    if (own.time < part->begin)
        own.time = part->begin;
    if (own.time > part->newest)
        part->newest = own.time;
    return recording_append(part->writer, part->profile, &own, error);
}

static void update_totals(struct part *part, uint64_t lost)
{
    struct recording_totals *totals = &part->totals;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    totals->end_monotonic = clock_ns(CLOCK_MONOTONIC);
    totals->losses[LOSS_RING_FULL] = lost - part->lost_before;
    totals->profiler_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - part->cpu_ns_before;
    totals->peak_rss_kb = (uint64_t)usage.ru_maxrss;
}

int part_flush(struct part *part, uint64_t lost, struct error *error)
{
    update_totals(part, lost);
    return recording_flush(part->writer, part->profile, &part->totals, error);
}

int part_finish(struct part *part, uint64_t lost, int *ret_fd, struct error *error)
{
    struct recording_writer *writer = part->writer;

    update_totals(part, lost);
    part->writer = NULL;
    return recording_finish(writer, part->profile, &part->totals, ret_fd, error);
}
