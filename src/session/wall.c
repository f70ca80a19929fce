// SPDX-License-Identifier: Apache-2.0
#include "session/wall_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam/process_metrics.h"
#include "beam/process_sweep.h"
#include "profile/events.h"
#include "profile/profile_remap.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/number.h"

enum {
    SWEEP_MOST = 100,        /* processes of a sweep; if there are more, it visits a random part */
    TOP_SECONDS = 10,        /* default time after which the top is chosen again */
    GROWTH_NS = 1000000000,  /* most time until the top is chosen a second time, by growth */
    ORDER_NS = 400000000,    /* samples may be appended late by a little more than this */
    TOGETHER_NS = 100000000, /* sweeps of several VMs in so much time fall together */
};

/* If the top is by growth, read what the first sweep compares with. */
static int begin_top(struct wall *wall, struct error *error)
{
    const struct top_option *option = &wall->options.top;
    struct sweep_counts ignored = {0};

    if (!option->count)
        return 0;
    wall->top = process_top_new(option->count, option->metric, option->by_growth);
    return option->by_growth ? process_top_find(wall->top, wall->vm, wall->sweep, &ignored, error)
                             : 0;
}

/* The time of the first sweep, at most an interval after the start. All VMs sweep at the same
 * times, whenever each of them started, because each step costs time for all VMs. */
static uint64_t first_sweep(uint64_t started, uint64_t interval)
{
    uint64_t grid = interval < TOGETHER_NS ? interval : TOGETHER_NS;

    return (started + interval) / grid * grid;
}

void wall_resume(struct wall *wall)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    wall->started = wall->swept = now;
    wall->next = first_sweep(now, 1000000000 / wall->options.frequency);
}

struct wall *wall_new(struct vm *vm, struct symbolizer *symbolizer,
                      const struct wall_options *options, struct error *error)
{
    struct wall *wall = xcalloc(1, sizeof(*wall));

    wall->vm = vm;
    wall->symbolizer = symbolizer;
    wall->options = *options;
    wall->resting = wall_resting_new(vm);
    wall->sweep = process_sweep_new(vm, options->room, error);
    if (!wall->sweep || begin_top(wall, error)) {
        wall_free(wall);
        return NULL;
    }
    wall_resume(wall);
    return wall;
}

void wall_free(struct wall *wall)
{
    if (!wall)
        return;
    process_top_free(wall->top);
    process_sweep_free(wall->sweep);
    free(wall->pending);
    free(wall->last.samples);
    free(wall->last.unchanged);
    wall_resting_free(wall->resting);
    wall_recent_free(&wall->recent);
    free(wall);
}

uint64_t wall_due(const struct wall *wall, uint64_t now)
{
    return wall->next > now ? wall->next - now : 0;
}

/* ---- samples ---- */

void wall_set_values(const struct wall *wall, struct sample *sample, uint64_t weight,
                     uint64_t sweeps)
{
    sample->event = wall->segment->wall;
    sample->values[WALL_TIME] = weight;
    sample->values[WALL_COUNT] = sweeps;
}

void wall_append(struct wall *wall, struct sample *sample)
{
    if (sample->time + ORDER_NS < wall->now)
        sample->time = wall->now - ORDER_NS;
    wall->samples += sample->values[WALL_COUNT];
    wall->time += sample->values[WALL_TIME];
    if (!wall->result)
        wall->result = segment_append(wall->segment, sample, wall->error);
}

/* ---- what is owed for processes that have not changed ---- */

/* The process has not run while it was owed, so its sample is exact. */
static void append_owed(struct wall *wall, struct sample *sample, const struct owed_time *owed)
{
    sample->time = owed->until;
    sample->flags |= SAMPLE_EXACT;
    wall_set_values(wall, sample, owed->time, owed->sweeps);
    wall_append(wall, sample);
}

static void write_owed_of(struct wall *wall, uint64_t address)
{
    struct owed_time owed;
    struct sample sample;

    if (wall_resting_take(wall->resting, address, &sample, &owed, &wall->segment->totals))
        append_owed(wall, &sample, &owed);
}

static void write_owed(struct wall *wall)
{
    struct owed_time owed;
    struct sample sample;
    size_t next = 0;

    while (wall_resting_take_next(wall->resting, &next, &sample, &owed, &wall->segment->totals))
        append_owed(wall, &sample, &owed);
}

/* ---- sweeps ---- */

static struct sample *add_sample(struct last_sweep *last)
{
    last->samples = xgrow(last->samples, &last->room, last->count, sizeof(*last->samples));
    return &last->samples[last->count++];
}

/* Visit a process that has not changed since an earlier sweep. */
static void visit_known(struct wall *wall, const struct swept_process *swept)
{
    struct last_sweep *last = &wall->last;

    if (last->is_of_all && wall->options.joins_repeats) {
        last->unchanged = xgrow(last->unchanged, &last->unchanged_room, last->unchanged_count,
                                sizeof(*last->unchanged));
        last->unchanged[last->unchanged_count++] = swept->address;
        return;
    }
    wall_resting_get(wall->resting, swept, add_sample(last), &last->totals);
}

static void visit(void *context, const struct swept_process *swept)
{
    struct wall *wall = context;
    struct last_sweep *last = &wall->last;
    struct recording_totals totals = {0};
    struct sample *sample;

    if (swept->is_running) {
        wall_running_add(wall, swept);
        return;
    }
    if (swept->is_known) {
        visit_known(wall, swept);
        return;
    }
    sample = add_sample(last);
    symbolizer_swept(wall->symbolizer, swept, wall->now, sample, &totals);
    if (last->is_remembered) {
        write_owed_of(wall, swept->address);
        wall_resting_put(wall->resting, swept, wall->now, sample, &totals);
    }
    recording_totals_add(&last->totals, &totals);
}

static bool is_known(void *context, const struct swept_process *swept)
{
    const struct wall *wall = context;

    return wall_resting_knows(wall->resting, swept, wall->now);
}

/* The share of all processes that a sweep visits. */
static double share(const struct wall *wall, uint64_t processes)
{
    return wall->top || processes <= SWEEP_MOST ? 1 : (double)SWEEP_MOST / (double)processes;
}

/* The time until the top is chosen again. The first choice by growth says little, because the
 * reading that it compares with is only one sweep older. So the second choice follows soon. */
static uint64_t top_interval(const struct wall *wall)
{
    const struct top_option *option = &wall->options.top;
    uint64_t interval = (uint64_t)((option->seconds ? option->seconds : TOP_SECONDS) * 1e9);

    return option->by_growth && !wall->choose_at && interval > GROWTH_NS ? GROWTH_NS : interval;
}

static int choose_top(struct wall *wall, struct sweep_request *request, struct error *error)
{
    struct sweep_counts counts = {0};
    int result = 0;

    if (!wall->top)
        return 0;
    if (wall->now >= wall->choose_at) {
        wall->choose_at = wall->now + top_interval(wall);
        result = process_top_find(wall->top, wall->vm, wall->sweep, &counts, error);
    }
    request->indices = process_top_indices(wall->top, &request->index_count);
    if (counts.processes)
        wall->others = counts.processes - request->index_count;
    return result;
}

/* A look at another VM, which holds back its memory or its files, can delay all sweeps. The next
 * one stands for the time of those that were missed. */
static void count_missed(struct wall *wall, uint64_t interval)
{
    uint64_t missed = (wall->now - wall->next) / interval;

    wall->segment->totals.losses[LOSS_SWEEPS] += missed;
    wall->next += missed * interval;
}

/* Append the samples of the last sweep. Those of running processes are pending, from `first` on.
 * Samples of repeats are exact: the VM has not run since the sweep. */
static void append_last(struct wall *wall, size_t first, uint64_t weight)
{
    const struct last_sweep *last = &wall->last;
    const struct owed_time owed = {weight, last->time, last->unwritten};

    for (size_t i = first; i < wall->pending_count; i++)
        wall_set_values(wall, &wall->pending[i].sample, weight, 1);
    for (size_t i = 0; i < last->unchanged_count; i++)
        wall_resting_owe(wall->resting, last->unchanged[i], &owed);
    for (size_t i = 0; i < last->count; i++) {
        struct sample sample = last->samples[i];

        sample.time = last->time;
        if (last->is_repeat)
            sample.flags |= SAMPLE_EXACT;
        wall_set_values(wall, &sample, weight, last->unwritten);
        wall_append(wall, &sample);
    }
}

/* Write the last sweep, and its repeats, which have no samples yet. It visited a part of
 * `processes`, or all: 0. The samples of a sweep stand for the time since the sweep before. If
 * there are none, the next sweep stands for that time too. */
static void write_last(struct wall *wall, uint64_t processes, size_t first_pending)
{
    struct last_sweep *last = &wall->last;
    const struct sweep_counts *counts = &last->counts;
    uint64_t time = last->time - wall->swept, weight = time;

    wall->tallies[WALL_SWEEPS] += last->unwritten;
    wall->tallies[WALL_GONE] += counts->gone;
    wall->tallies[WALL_TORN] += counts->torn;
    if (processes)
        weight = wall_population_weight(time, counts->processes, processes);
    else
        processes = counts->processes + counts->torn;
    if (counts->processes || !processes) {
        recording_totals_add(&wall->segment->totals, &last->totals);
        append_last(wall, first_pending, weight);
        wall_population_add(&wall->population, counts->processes, processes, time);
        wall->swept = last->time;
    }
    last->unwritten = 0;
}

/* Write the repeats that were left to stand together. */
static void write_repeats(struct wall *wall)
{
    if (wall->last.unwritten)
        write_last(wall, 0, wall->pending_count);
}

/* Write what is left of the last sweep, and begin the next one. `all`: it visits all processes that
 * are requested, not a part of them. `remembers`: its samples serve later sweeps. */
static void leave_last(struct wall *wall, bool all, bool remembers)
{
    struct last_sweep *last = &wall->last;
    bool has_room = wall_resting_has_room(wall->resting, SWEEP_MOST);

    write_repeats(wall);
    if (!all || !has_room)
        write_owed(wall);
    if (!has_room)
        wall_resting_clear(wall->resting);
    *last = (struct last_sweep){
        .samples = last->samples,
        .room = last->room,
        .unchanged = last->unchanged,
        .unchanged_room = last->unchanged_room,
        .is_of_all = all,
        .is_remembered = remembers,
        .time = wall->now,
    };
}

/* Sweep over the processes. */
static void sweep(struct wall *wall)
{
    uint64_t processes = vm_process_count(wall->vm);
    double part = share(wall, processes);
    bool all = part == 1, remembers = all || processes <= RESTING_MAX;
    struct sweep_request request = {.with_stacks = true,
                                    .share = part,
                                    .visit = visit,
                                    .is_known = remembers ? is_known : NULL,
                                    .context = wall};
    struct last_sweep *last = &wall->last;
    size_t first_pending = wall->pending_count;
    struct error gone; /* a VM that has ended */

    leave_last(wall, all, remembers);
    if (choose_top(wall, &request, &gone) ||
        process_sweep_run(wall->sweep, &request, &last->counts, &gone)) {
        wall->pending_count = first_pending;
        return;
    }
    last->may_repeat = all && !wall->top && !last->counts.torn && !last->counts.gone &&
                       wall->pending_count == first_pending;
    last->unwritten = 1;
    write_last(wall, all ? 0 : processes, first_pending);
}

static void repeat(struct wall *wall)
{
    wall->last.time = wall->now;
    wall->last.is_repeat = true;
    wall->last.unwritten++;
    if (!wall->options.joins_repeats)
        write_repeats(wall);
}

/* Sweep, or repeat the last sweep, which is cheaper. */
static void sweep_or_repeat(struct wall *wall, bool has_rested)
{
    uint64_t interval = 1000000000 / wall->options.frequency;

    count_missed(wall, interval);
    wall->next += interval;
    event_spans_place(&wall->segment->spans, wall->segment->wall);
    if (has_rested && wall->last.may_repeat)
        repeat(wall);
    else
        sweep(wall);
    event_spans_add(&wall->segment->spans, wall->segment->wall, wall->now,
                    clock_ns(CLOCK_MONOTONIC));
    for (; wall->next <= clock_ns(CLOCK_MONOTONIC); wall->next += interval)
        wall->tallies[WALL_LATE]++;
}

int wall_step(struct wall *wall, struct target *target, uint64_t now, struct segment *segment,
              struct error *error)
{
    wall->now = now;
    wall->segment = segment;
    wall->error = error;
    wall->result = 0;
    wall_running_settle(wall, false);
    if (now >= wall->next)
        sweep_or_repeat(wall, target_has_rested(target, READER_WALL));
    return wall->result;
}

int wall_end(struct wall *wall, bool all, struct segment *segment, struct error *error)
{
    wall->segment = segment;
    wall->error = error;
    wall->result = 0;
    wall->now = clock_ns(CLOCK_MONOTONIC);
    write_repeats(wall);
    write_owed(wall);
    if (all)
        wall_running_settle(wall, true);
    return wall->result;
}

void wall_begin(struct wall *wall, const struct profile *before, struct profile *profile)
{
    struct profile_remap remap = {.from = before, .to = profile};

    for (size_t i = 0; i < wall->pending_count; i++)
        profile_remap_sample(&remap, &wall->pending[i].sample);
    for (size_t i = 0; i < wall->last.count; i++)
        profile_remap_sample(&remap, &wall->last.samples[i]);
    wall_resting_move(wall->resting, &remap);
    wall_recent_move(&wall->recent, wall->now - STACK_NS, &remap);
    profile_remap_free(&remap);
    wall->started = wall->swept;
    wall->samples = wall->time = 0;
    memset(wall->tallies, 0, sizeof(wall->tallies));
    wall->population = (struct wall_population){.last = wall->population.last};
}

void wall_add_summary(const struct wall *wall, struct event_summary *summary,
                      struct event_tally *tallies)
{
    uint64_t *error = &summary->errors[WALL_TIME], span = wall->swept - wall->started;

    summary->hits += wall->samples;
    summary->sums[WALL_TIME] += wall->time;
    summary->sums[WALL_COUNT] += wall->samples;
    summary->windows += wall->tallies[WALL_SWEEPS];
    summary->span_ns += span;
    summary->covered_ns += whole_part((double)span * wall_population_read(&wall->population));
    *error = whole_part(hypot((double)*error, wall_population_error(&wall->population)));
    for (int i = 0; i < WALL_TALLIES; i++)
        tallies[i].count += wall->tallies[i];
    tallies[WALL_OTHERS].count += wall->others;
    for (int i = 0; i < WALL_TALLIES; i++)
        tallies[i].seen = tallies[i].count;
}
