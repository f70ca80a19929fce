// SPDX-License-Identifier: Apache-2.0
#include "session/session_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/alarms.h"
#include "capture/sampler.h"
#include "profile/profile_remap.h"
#include "profile/events.h"
#include "session/node_meter.h"
#include "symbol/allocation.h"
#include "util/alloc.h"

/* A sample whose window is still open. */
struct held_sample {
    struct sample sample;
    struct wire_hit hit;
    struct event_probes *probes;
    int event;
    enum process_status wait; /* after the hit, if the process waits */
};

enum { TICKS_MIN = 20, TICKS_MAX = 1000 }; /* per second */

struct events {
    const struct session_options *options;
    const struct targets *targets;
    struct programs *programs;
    struct memory_locks *locks;
    struct profile *profile;
    struct calibration calibration;
    struct alarms *alarms;
    struct host_limit *host; /* NULL: none */
    event_id ids[EVENTS_MAX];
    /* Remainders of rounding the values, added to the next ones so that sums stay right. */
    double rest[EVENTS_MAX][EVENT_VALUES];
    struct sampler *ticks; /* NULL: no event needs them */
    event_id alloc;        /* 0: not recorded */
    struct held_sample *held;
    size_t held_count, held_room;
};

/* Define the events. The ids are equal in all profiles in which the same events are defined in the
 * same order. */
static void define(struct events *events, struct profile *profile)
{
    events->profile = profile;
    for (int i = 0; i < events->options->event_count; i++)
        events->ids[i] = event_define(profile, events->options->events[i].name);
}

struct events *event_samples_new(const struct session_options *options,
                                 const struct targets *targets, struct profile *profile)
{
    struct events *events = xcalloc(1, sizeof(*events));

    events->options = options;
    events->targets = targets;
    if (options->host_budget > 0 && options->event_count)
        events->host = host_limit_new(options->host_budget);
    events->alarms = alarms_new();
    define(events, profile);
    for (int i = 0; i < options->event_count; i++)
        if (!strcmp(options->events[i].name, EVENT_ALLOC))
            events->alloc = events->ids[i];
    return events;
}

void event_samples_free(struct events *events)
{
    if (!events)
        return;
    sampler_free(events->ticks);
    alarms_free(events->alarms);
    host_limit_free(events->host);
    free(events->held);
    free(events);
}

void event_samples_sizes(const struct events *events, uint32_t targets,
                         struct programs_options *sizes)
{
    int count = events->options->event_count;

    sizes->slots = event_kinds_slots((int)targets, count);
    sizes->histograms = event_kinds_histograms(events->options->events, count, (int)targets);
    for (size_t i = 0; i < events->targets->count; i++)
        sizes->processes += vm_process_count(events->targets->of[i]->vm);
}

/* The frequency at which a slice gets five ticks before it is a long schedule. The rest of a slice
 * after its last tick is charged to the place where the process resumes, which says little. */
static uint32_t tick_frequency(const struct events *events)
{
    uint32_t frequency = 5000000 / events->options->long_us;

    return frequency < TICKS_MIN ? TICKS_MIN : frequency > TICKS_MAX ? TICKS_MAX : frequency;
}

static void find_ticks(struct events *events)
{
    for (int i = 0; i < events->options->event_count; i++) {
        const char *tick = events->options->events[i].kind->tick;

        if (tick && !events->ticks)
            events->ticks =
                sampler_new(events->programs, tick, sample_clock_default(), tick_frequency(events));
    }
}

static int find_probes(const struct events *events, struct target *target, struct error *error)
{
    struct event_probes_options options = {
        .programs = events->programs,
        .vm = target->vm,
        .locks = events->locks,
        .calibration = &events->calibration,
        .events = events->options->events,
        .count = events->options->event_count,
        .wanted = target->plan.events,
        .target = target->number,
        .budget = session_options_probe_budget(events->options),
        .host = events->host,
        .stacks = events->options->stacks,
        .alarms = events->alarms,
        .long_us = events->options->long_us,
        .ticks = events->ticks,
    };
    struct code *code = symbolizer_code(target->symbolizer);

    options.hooks = symbolizer_hooks(target->symbolizer, error);
    if (!options.hooks)
        return -1;
    target->probes = event_probes_new(&options);
    if (session_options_find_events(events->options, EVENT_ALLOC) & target->plan.events)
        target->allocation = allocation_new(target->vm, code);
    return 0;
}

int event_samples_find(struct events *events, struct programs *programs, struct memory_locks *locks,
                       struct error *error)
{
    if (!events->options->event_count)
        return 0;
    if (calibrate(&events->calibration, error))
        return -1;
    events->programs = programs;
    events->locks = locks;
    find_ticks(events);
    for (size_t i = 0; i < events->targets->count; i++)
        if (find_probes(events, events->targets->of[i], error))
            return -1;
    for (int i = 0; events->targets->all && i < events->options->event_count; i++)
        event_kind_want(programs, events->options->events[i].kind, events->calibration.way);
    return 0;
}

/* ---- attaching ---- */

/* True if the target refuses an event, with the reason, which is reported once. */
static bool is_refused(const struct events *events, const struct target *target, int event,
                       struct error *why)
{
    if (event_probes_refused(target->probes, event, why) == 0)
        return false;
    if (!event_probes_are_to_report(target->probes, event))
        return true;
    if (events->targets->count > 1)
        events->options->warn("event %s of process %d is not recorded: %s",
                              events->options->events[event].name, (int)target->vm->pid, why->text);
    else
        events->options->warn("event %s is not recorded: %s", events->options->events[event].name,
                              why->text);
    return true;
}

/* Report the refused events; *last is the last reason. Return the number of events that at least
 * one target has. */
static int say_refused(const struct events *events, struct error *last)
{
    int seen = 0;

    for (int i = 0; i < events->options->event_count; i++) {
        size_t refused = 0;

        for (size_t at = 0; at < events->targets->count; at++) {
            const struct target *target = events->targets->of[at];

            refused += (target->plan.events >> i & 1) && is_refused(events, target, i, last);
        }
        seen += refused < events->targets->count;
    }
    return seen;
}

int event_samples_start(struct events *events, struct error *error)
{
    if (!events->options->event_count)
        return 0;
    if ((events->ticks && sampler_start(events->ticks, error)) ||
        alarms_start(events->alarms, events->programs, error))
        return -1;
    if (events->ticks)
        sampler_unwant(events->ticks); /* it ticks while probes want it: in their windows */
    for (size_t i = 0; i < events->targets->count; i++)
        if (event_probes_start(events->targets->of[i]->probes, error))
            return -1;
    if (events->targets->count && !say_refused(events, error) && !events->options->cpu)
        return -1;
    return 0;
}

/* Report the events that the target refuses by now. */
static void say_refused_by(const struct events *events, const struct target *target)
{
    struct error refused;

    for (int i = 0; target->probes && i < events->options->event_count; i++)
        is_refused(events, target, i, &refused);
}

void event_samples_stop(struct events *events)
{
    for (size_t i = 0; i < events->targets->count; i++)
        if (!events->targets->of[i]->ended) {
            say_refused_by(events, events->targets->of[i]);
            event_samples_leave(events->targets->of[i]);
        }
    if (events->ticks)
        sampler_stop(events->ticks);
}

int event_samples_join(struct events *events, struct target *target, struct error *error)
{
    if (!events->options->event_count)
        return 0;
    if (find_probes(events, target, error) || event_probes_start(target->probes, error))
        return -1;
    say_refused_by(events, target);
    return 0;
}

void event_samples_leave(struct target *target)
{
    if (target->probes)
        event_probes_stop(target->probes);
}

/* ---- samples ---- */

bool event_samples_need_cpu(const struct events *events)
{
    return events->alloc != 0;
}

int event_samples_take_cpu(struct events *events, const struct target *target,
                           const struct snapshot *snapshot, const struct sample *sample,
                           struct segment *segment, struct error *error)
{
    struct sample allocated = *sample;

    if (!target->allocation)
        return 0;
    allocated.event = events->alloc;
    allocated.flags |= SAMPLE_EXACT;
    allocated.values[ALLOC_WORDS] = allocation_at_sample(target->allocation, snapshot);
    if (!allocated.values[ALLOC_WORDS])
        return 0;
    return segment_append(segment, &allocated, error);
}

/* Take off the words that CPU samples were charged with already. */
static void take_off_allocated(const struct target *target, const struct snapshot *snapshot,
                               struct wire_hit *hit)
{
    uint64_t charged = allocation_at_hit(target->allocation, snapshot);

    hit->values[ALLOC_WORDS] -=
        charged < hit->values[ALLOC_WORDS] ? charged : hit->values[ALLOC_WORDS];
}

void event_samples_take(struct events *events, const struct target *target,
                        const struct snapshot *snapshot, const struct wire_hit *hit,
                        const struct sample *sample)
{
    struct event_probes *probes = target->probes;
    struct held_sample *held;
    int event = event_probes_event(probes, hit->slot);

    if (event < 0)
        return;
    events->held =
        xgrow(events->held, &events->held_room, events->held_count, sizeof(*events->held));
    held = &events->held[events->held_count++];
    *held = (struct held_sample){.sample = *sample,
                                 .hit = *hit,
                                 .probes = probes,
                                 .event = event,
                                 .wait = symbolizer_wait(target->symbolizer)};
    if (events->ids[event] == events->alloc && hit->kind == WIRE_ALLOC_HEAP)
        take_off_allocated(target, snapshot, &held->hit);
}

/* Add a mark as leaf, such as "[waiting]": the process stayed in this stack with this status. */
static stack_id add_mark(struct profile *profile, stack_id stack, enum process_status status)
{
    struct frame frame = {.kind = FRAME_MARK};
    char text[64];

    snprintf(text, sizeof(text), "[%s]", profile_status_name(status));
    frame.symbol = profile_string_z(profile, text);
    return profile_stack(profile, stack, profile_frame(profile, &frame));
}

static int append_share(struct events *events, const struct held_sample *held,
                        const struct event_part *share, const struct event_scale *scale,
                        struct segment *segment, struct error *error)
{
    const struct event_kind *kind = events->options->events[held->event].kind;
    struct sample sample = held->sample;

    sample.event = events->ids[held->event];
    sample.slice = share->slice;
    if (scale->by_time == 1 && scale->by_work == 1)
        sample.flags |= SAMPLE_EXACT;
    for (int v = 0; v < EVENT_VALUES; v++) {
        double *rest = &events->rest[held->event][v];
        double by = kind->by_time >> v & 1 ? scale->by_time : scale->by_work;
        double value = (double)share->values[v] * by + *rest;

        sample.values[v] = value > 0 ? (uint64_t)value : 0;
        *rest = value - (double)sample.values[v];
    }
    if (share->status)
        sample.status = (uint8_t)(share->status == STATUS_WAITING ? held->wait : share->status);
    if (share->shows_status)
        sample.stack = add_mark(events->profile, sample.stack, sample.status);
    return segment_append(segment, &sample, error);
}

static int append(struct events *events, struct held_sample *held, const struct event_scale *scale,
                  struct segment *segment, struct error *error)
{
    const struct event_kind *kind = events->options->events[held->event].kind;
    struct event_part parts[EVENT_PARTS_MAX] = {0};
    int count = kind->parts ? kind->parts(&held->hit, parts) : 1;

    if (!kind->parts)
        memcpy(parts[0].values, held->hit.values, sizeof(parts[0].values));
    for (int i = 0; i < count; i++) {
        if (append_share(events, held, &parts[i], scale, segment, error))
            return -1;
        held->sample.is_part = held->sample.process != 0; /* the next ones are of the same hit */
    }
    return 0;
}

/* Note when the probes of a target were attached. */
static void take_spans(const struct events *events, const struct target *target,
                       struct segment *segment)
{
    for (int i = 0; i < events->options->event_count; i++)
        event_probes_take_spans(target->probes, i, &segment->spans, events->ids[i]);
}

int event_samples_release(struct events *events, struct segment *segment, struct error *error)
{
    size_t kept = 0;
    int result = 0;

    for (size_t i = 0; i < events->targets->count; i++)
        if (events->targets->of[i]->probes && !target_is_at_rest(events->targets->of[i])) {
            event_probes_update(events->targets->of[i]->probes);
            take_spans(events, events->targets->of[i], segment);
        }
    for (size_t i = 0; i < events->held_count && !result; i++) {
        struct held_sample *held = &events->held[i];
        struct event_scale scale;

        switch (
            event_probes_scale(held->probes, held->event, &held->hit, held->sample.time, &scale)) {
        case WINDOW_SCALE:
            result = append(events, held, &scale, segment, error);
            break;
        case WINDOW_NOT_YET:
            events->held[kept++] = *held;
            break;
        case WINDOW_OUTSIDE:
            break;
        }
    }
    events->held_count = kept;
    return result;
}

uint64_t event_samples_oldest(const struct events *events)
{
    uint64_t oldest = UINT64_MAX;

    for (size_t i = 0; i < events->held_count; i++)
        if (events->held[i].sample.time < oldest)
            oldest = events->held[i].sample.time;
    return oldest;
}

void event_samples_forget(struct events *events, const struct target *target)
{
    size_t kept = 0;

    for (size_t i = 0; i < events->held_count; i++)
        if (events->held[i].probes != target->probes)
            events->held[kept++] = events->held[i];
    events->held_count = kept;
}

/* Add the counts of a target to the summary. Set the totals that the target's samples add up to. */
static void add_summary(const struct target *target, int event, struct event_summary *summary,
                        struct event_histogram *histograms, struct event_tally *tallies,
                        struct segment *segment)
{
    uint64_t totals[EVENT_VALUES];

    for (int v = 0; v < EVENT_VALUES; v++)
        totals[v] = summary->sums[v];
    event_totals_add_summary(target->probes, event, summary, histograms, tallies);
    for (int v = 0; v < EVENT_VALUES; v++)
        totals[v] = summary->sums[v] - totals[v];
    recording_put_values(segment->writer, summary->event, symbolizer_target(target->symbolizer),
                         totals);
}

static int put_summary(struct events *events, int event, struct segment *segment,
                       struct error *error)
{
    const struct event_kind *kind = events->options->events[event].kind;
    struct event_histogram *histograms =
        xcalloc((size_t)kind->histogram_count + 1, sizeof(*histograms));
    struct event_tally *tallies = xcalloc((size_t)kind->tally_count + 1, sizeof(*tallies));
    struct event_summary summary = {
        .event = events->ids[event],
        .histograms = histograms,
        .histogram_count = (size_t)kind->histogram_count,
        .tallies = tallies,
        .tally_count = (size_t)kind->tally_count,
    };
    int result;

    for (int i = 0; i < kind->histogram_count; i++) {
        histograms[i].name = profile_string_z(events->profile, kind->histograms[i].name);
        histograms[i].unit = kind->histograms[i].unit;
    }
    for (int i = 0; i < kind->tally_count; i++)
        tallies[i].name = profile_string_z(events->profile, kind->tallies[i]);
    for (size_t i = 0; i < events->targets->count; i++) {
        const struct target *target = events->targets->of[i];
        struct error ignored;

        if (event_probes_refused(target->probes, event, &ignored) == 0)
            add_summary(target, event, &summary, histograms, tallies, segment);
    }
    result = recording_put_summary(segment->writer, segment->profile, &summary, error);
    free(histograms);
    free(tallies);
    return result;
}

int event_samples_put_summaries(struct events *events, struct segment *segment, struct error *error)
{
    for (int i = 0; i < events->options->event_count; i++)
        if (put_summary(events, i, segment, error))
            return -1;
    return 0;
}

void event_samples_end(struct events *events, struct segment *segment)
{
    for (size_t i = 0; i < events->targets->count; i++)
        if (events->targets->of[i]->probes && !events->targets->of[i]->ended) {
            event_probes_end(events->targets->of[i]->probes);
            take_spans(events, events->targets->of[i], segment);
        }
}

void event_samples_begin(struct events *events, struct profile *profile)
{
    struct profile_remap remap = {.from = events->profile, .to = profile};

    define(events, profile);
    for (size_t i = 0; i < events->held_count; i++)
        profile_remap_sample(&remap, &events->held[i].sample);
    profile_remap_free(&remap);
    for (size_t i = 0; i < events->targets->count; i++)
        if (events->targets->of[i]->probes) {
            node_meter_end_segment(events->targets->of[i]);
            event_probes_begin(events->targets->of[i]->probes);
        }
}
