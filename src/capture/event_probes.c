// SPDX-License-Identifier: Apache-2.0
#include "capture/event_probes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/alarms.h"
#include "capture/event_sites.h"
#include "capture/programs.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

/* With a budget of all of the target's CPU time, probes may cost anything: the target has no more
 * to give. */
#define NO_BUDGET 1e6

/* The cost of a sample with stacks in ns, measured (docs/measurements.md): the target's, plus
 * beamflame's, because a target that uses all CPUs lacks that time too. */
#define STACK_NS (4000.0 + 7000.0)

/* While windows stand for the time between them, the target's work is read again after FRESH_NS, or
 * after a part of the time so far if that is longer: FRESH_PART when a sample needs it, and
 * KEPT_PART else. The target can end at any time, and then its work can't be read any more. */
static const double FRESH_NS = 50e6, FRESH_PART = 0.01, KEPT_PART = 0.05;

/* ---- finding the probe points ---- */

static void find_sites(struct event_probes *probes, struct probed_event *event)
{
    const struct event_target target = {
        .vm = probes->options.vm,
        .hooks = probes->options.hooks,
        .way = probes->options.calibration->way,
    };

    event->group = -1;
    if (!(probes->options.wanted >> (event - probes->events) & 1)) {
        error_set(&event->refused, ERROR_UNSUPPORTED, "a rule leaves it out");
        event->is_reported = true;
        return;
    }
    if (event_sites_find(&target, event->request, &event->places, &event->refused))
        return;
    for (int i = 0; i < event->places.count; i++) {
        const struct event_place *place = &event->places.of[i];

        event->sites[i] = (struct probe_site){
            .program = programs_want(probes->options.programs, place->site->program),
            .path = place->point.path,
            .file_offset = place->point.file_offset,
            .semaphore_offset = place->semaphore_offset,
            .cookie = event->slot | (uint64_t)place->site->kind << 32,
            .is_return = place->site->is_return,
            .trap = place->point.trap,
        };
        if (!event->sites[i].program) {
            error_set(&event->refused, ERROR_UNSUPPORTED,
                      "its BPF programs are not loaded: no VM that ran at the start had the hooks "
                      "of this event");
            return;
        }
    }
    event->group = 0; /* the governor gives the number */
}

static void begin_estimates(struct probed_event *event)
{
    bool is_counted = event->work.counter == event->kind->work;

    event->hits = (struct estimate){0};
    for (int v = 0; v < EVENT_VALUES; v++)
        event->estimates[v] =
            (struct estimate){.is_counted = is_counted && (event->kind->counted >> v & 1)};
}

struct event_probes *event_probes_new(const struct event_probes_options *options)
{
    struct event_probes *probes = xcalloc(1, sizeof(*probes));
    uint32_t histogram =
        options->target * event_kinds_histograms(options->events, options->count, 1);

    probes->options = *options;
    probes->events = xcalloc((size_t)options->count, sizeof(*probes->events));
    for (int i = 0; i < options->count; i++) {
        struct probed_event *event = &probes->events[i];

        event->request = &options->events[i];
        event->kind = event->request->kind;
        event->work.counter =
            vm_counts(options->vm, event->kind->work) ? event->kind->work : VM_REDUCTIONS;
        if (event->work.counter == VM_COLLECTIONS && !options->vm->dirty_gc_info)
            dirty_collections_find_counters(options->hooks);
        begin_estimates(event);
        event->slot = options->target * (uint32_t)options->count + (uint32_t)i;
        event->histogram = histogram;
        event->state =
            (struct wire_slot){.period = 1, .histogram = histogram, .long_us = options->long_us};
        histogram += (uint32_t)event->kind->histogram_count;
        event->before.histograms =
            xcalloc((size_t)event->kind->histogram_count + 1, sizeof(struct wire_histogram));
        find_sites(probes, event);
        if (event->group == 0)
            event_kind_want(options->programs, event->kind, options->calibration->way);
    }
    return probes;
}

void event_probes_free(struct event_probes *probes)
{
    if (!probes)
        return;
    alarms_leave(probes->options.alarms, probes->governor);
    governor_free(probes->governor);
    for (int i = 0; i < probes->options.count; i++) {
        free(probes->events[i].before.histograms);
        event_spans_free(&probes->events[i].seen);
    }
    free(probes->events);
    free(probes);
}

/* ---- under the governor ---- */

static struct probed_event *event_of_group(struct event_probes *probes, unsigned group)
{
    int i = 0;

    while (probes->events[i].group != (int)group)
        i++;
    return &probes->events[i];
}

static void read_counts(void *context, unsigned group, struct probe_counts *counts)
{
    struct event_probes *probes = context;
    struct wire_slot_counts slot =
        programs_slot_counts(probes->options.programs, event_of_group(probes, group)->slot);

    _Static_assert((int)WIRE_VALUES == (int)EVENT_VALUES, "an event's values");
    counts->runs = slot.runs;
    counts->hits = slot.hits;
    counts->size = slot.size;
    memcpy(counts->values, slot.values, sizeof(counts->values));
}

static void set_open(void *context, unsigned group, enum wire_open open)
{
    struct event_probes *probes = context;
    struct probed_event *event = event_of_group(probes, group);

    if (event->kind->tick && event->state.open == WIRE_CLOSED && open != WIRE_CLOSED)
        sampler_want(probes->options.ticks);
    if (event->kind->tick && event->state.open != WIRE_CLOSED && open == WIRE_CLOSED)
        sampler_unwant(probes->options.ticks);
    event->state.open = open;
    if (open != WIRE_CLOSED) {
        event->state.window++;
        event->state.opened = clock_ns(CLOCK_MONOTONIC);
    }
    programs_set_slot(probes->options.programs, event->slot, &event->state);
}

static void set_period(void *context, unsigned group, uint64_t period)
{
    struct event_probes *probes = context;
    struct probed_event *event = event_of_group(probes, group);

    event->state.period = period ? period : 1;
    programs_set_slot(probes->options.programs, event->slot, &event->state);
}

static void set_alarm(void *context, unsigned group, uint32_t runs)
{
    struct event_probes *probes = context;
    struct probed_event *event = event_of_group(probes, group);

    event->state.alarm = runs;
    programs_set_slot(probes->options.programs, event->slot, &event->state);
}

/* The work of the target. After its end, the last value from before. */
static struct vm_work read_work(void *context, int group)
{
    struct event_probes *probes = context;
    struct work *work =
        group == WORK_OF_ALL ? &probes->work : &event_of_group(probes, (unsigned)group)->work;
    struct vm_work now;

    if (vm_work(probes->options.vm, work->counter, &now) && now.count > work->last.count)
        work->last = now;
    return work->last;
}

static pid_t held_by(void *context, enum probe_change change)
{
    struct memory_locks *locks = ((const struct event_probes *)context)->options.locks;
    pid_t pid = locks ? memory_locks_taken(locks) : 0;

    /* If both links of a place are there, each hit counts twice. */
    return !pid && locks && change == PROBE_ATTACH ? memory_locks_keeper(locks) : pid;
}

static void keep(void *context, const struct probe_links *links)
{
    int count;
    int *fds = probe_links_fds(links, &count);

    memory_locks_keep(((const struct event_probes *)context)->options.locks, fds, count);
    free(fds);
}

static void start_span(struct event_probes *probes)
{
    probes->started = probes->looked = clock_ns(CLOCK_MONOTONIC);
    probes->so_far_ns = 0;
    for (int i = 0; i < probes->options.count; i++) {
        struct probed_event *event = &probes->events[i];

        event->so_far = (struct vm_work){0};
        if (!vm_work(probes->options.vm, event->work.counter, &event->work.at_start))
            event->work.at_start = (struct vm_work){0};
    }
}

/* Remember the counts until now. A slot can have the counts of a target that has ended. */
static void note_counts(struct event_probes *probes, struct probed_event *event)
{
    event->before.slot = programs_slot_counts(probes->options.programs, event->slot);
    for (int i = 0; i < event->kind->histogram_count; i++)
        programs_histogram(probes->options.programs, event->histogram + (uint32_t)i,
                           &event->before.histograms[i]);
}

int event_probes_start(struct event_probes *probes, struct error *error)
{
    const struct governor_options options = {
        .pid = probes->options.vm->pid,
        .part = probes->options.budget < 1 ? probes->options.budget : NO_BUDGET,
        .host = probes->options.host,
        .stacks = {.ns = STACK_NS,
                   .most = STACKS_PER_SECOND,
                   .mean = probes->options.stacks ? probes->options.stacks : INFINITY},
        .calibration = probes->options.calibration,
        .callbacks = {.context = probes,
                      .counts = read_counts,
                      .open = set_open,
                      .period = set_period,
                      .alarm = set_alarm,
                      .work = read_work,
                      .held_by = held_by,
                      .keep = keep},
    };

    probes->governor = governor_new(&options);
    for (int i = 0; i < probes->options.count; i++) {
        struct probed_event *event = &probes->events[i];

        /* The target that had this slot before has left notes of older windows. */
        event->state.window = programs_slot(probes->options.programs, event->slot).window;
        note_counts(probes, event);
        programs_set_slot(probes->options.programs, event->slot, &event->state);
        if (event->group == 0 && event->kind->tick)
            programs_set_ticking(probes->options.programs, options.pid, event->slot);
        if (event->group == 0)
            event->group = (int)governor_add(probes->governor, event->sites, event->places.count);
        if (event->group >= 0)
            log_decision("probes", "the %d probes of %s are group %d of process %d",
                         event->places.count, event->request->name, event->group, (int)options.pid);
    }
    alarms_join(probes->options.alarms, probes->events[0].slot, (uint32_t)probes->options.count,
                probes->governor);
    if (governor_start(probes->governor, error))
        return -1;
    start_span(probes);
    return 0;
}

/* The set of the counters that measure the work of events. */
static unsigned int counters_of(const struct event_probes *probes)
{
    unsigned int counters = 0;

    for (int i = 0; i < probes->options.count; i++)
        counters |= 1u << probes->events[i].work.counter;
    return counters;
}

/* Update the whole time and its work. The work of a target that has ended stays as it was. */
static void look_at_target(struct event_probes *probes, uint64_t now)
{
    struct vm_work works[VM_COUNTERS];
    unsigned int known = vm_works(probes->options.vm, counters_of(probes), works);

    probes->looked = now;
    probes->so_far_ns = (double)(now - probes->started);
    for (int i = 0; i < probes->options.count; i++) {
        struct probed_event *event = &probes->events[i];
        const struct vm_work *before = &event->work.at_start, *work = &works[event->work.counter];

        if (before->count && (known >> event->work.counter & 1))
            event->so_far =
                (struct vm_work){work->count - before->count, work->amount - before->amount};
    }
}

static void look_now(struct event_probes *probes)
{
    if (!probes->stopped)
        look_at_target(probes, clock_ns(CLOCK_MONOTONIC));
}

/* Look if the last look is older than this part of the time so far. */
static void look_again(struct event_probes *probes, double part)
{
    double since = (double)(clock_ns(CLOCK_MONOTONIC) - probes->looked);

    if (since >= fmax(FRESH_NS, part * probes->so_far_ns))
        look_now(probes);
}

void event_probes_stop(struct event_probes *probes)
{
    probes->stopped = clock_ns(CLOCK_MONOTONIC);
    look_at_target(probes, probes->stopped);
    alarms_leave(probes->options.alarms, probes->governor);
    governor_stop(probes->governor);
}

int event_probes_refused(const struct event_probes *probes, int event, struct error *error)
{
    if (probes->events[event].group < 0) {
        *error = probes->events[event].refused;
        return -1;
    }
    if (!probes->governor)
        return 0;
    return governor_error(probes->governor, (unsigned)probes->events[event].group, error);
}

bool event_probes_are_to_report(struct event_probes *probes, int event)
{
    bool result = !probes->events[event].is_reported;

    probes->events[event].is_reported = true;
    return result;
}

/* ---- results ---- */

int event_probes_event(const struct event_probes *probes, uint32_t slot)
{
    uint32_t event = slot - probes->events[0].slot;

    return event < (uint32_t)probes->options.count ? (int)event : -1;
}

/* A hit in a window that stands for itself has no correction for the slowdown: the window shows the
 * target as it was. */
enum window_answer event_probes_scale(struct event_probes *probes, int event,
                                      const struct wire_hit *hit, uint64_t time,
                                      struct event_scale *ret_scale)
{
    const struct probed_event *of = &probes->events[event];
    double scale = 1, slowdown = 1;
    enum window_answer answer =
        governor_scale(probes->governor, (unsigned)of->group, time, hit->duration, &scale);

    if (scale > 1) {
        look_again(probes, FRESH_PART);
        slowdown = estimate_slowdown(
            &of->hits, (struct estimate_span){probes->so_far_ns, (double)of->so_far.count});
    }
    if (hit->size < hit->period && hit->size)
        scale *= (double)hit->period / (double)hit->size;
    *ret_scale = (struct event_scale){.by_time = scale, .by_work = scale * slowdown};
    return answer;
}

void event_probes_update(struct event_probes *probes)
{
    struct governor_window window;
    bool have_ended = false;

    while (governor_window(probes->governor, &window)) {
        struct probed_event *event = event_of_group(probes, window.group);
        double ns = (double)(window.end - window.start), represents = (double)window.represents;
        double hits = (double)window.hits;

        estimate_add(&event->hits, (struct estimate_span){ns, (double)window.work.count},
                     represents, hits, hits);
        for (int v = 0; v < EVENT_VALUES; v++) {
            estimate_add(
                &event->estimates[v],
                (struct estimate_span){ns, event_totals_work_of_value(event, v, &window.work)},
                represents, (double)window.values[v], hits);
        }
        window_lengths_add(&event->lengths, window.start, window.end, window.represents);
        event_spans_add(&event->seen, 0, window.start, window.end);
        have_ended = true;
    }
    if (have_ended)
        look_now(probes);
    else if (!governor_stays_open(probes->governor))
        look_again(probes, KEPT_PART);
}

void event_probes_take_spans(struct event_probes *probes, int event, struct event_spans *spans,
                             event_id id)
{
    struct event_spans *seen = &probes->events[event].seen;

    const struct spans *windows = event_spans_get(seen, 0);

    event_spans_place(spans, id);
    for (size_t i = 0; windows && i < windows->count; i++)
        event_spans_add(spans, id, windows->list[i].start, windows->list[i].end);
    event_spans_clear(seen);
}

void event_probes_end(struct event_probes *probes)
{
    governor_cut(probes->governor);
    event_probes_update(probes);
    look_now(probes);
}

static void begin_event(struct event_probes *probes, struct probed_event *event)
{
    struct governor_status status = governor_status(probes->governor, (unsigned)event->group);

    begin_estimates(event);
    event->lengths = (struct window_lengths){0};
    note_counts(probes, event);
    event->before.cost_ns = status.spent_ns;
    event->before.target_cpu_ns = status.target_cpu_ns;
}

void event_probes_begin(struct event_probes *probes)
{
    for (int i = 0; i < probes->options.count; i++)
        if (probes->events[i].group >= 0)
            begin_event(probes, &probes->events[i]);
    start_span(probes);
}

void event_probes_pause(struct event_probes *probes)
{
    probes->stopped = clock_ns(CLOCK_MONOTONIC);
    look_at_target(probes, probes->stopped);
    governor_pause(probes->governor);
}

/* What the target did in the pause counts for no summary. */
void event_probes_resume(struct event_probes *probes)
{
    governor_cut(probes->governor);
    event_probes_begin(probes);
    governor_resume(probes->governor);
    probes->stopped = 0;
    start_span(probes);
}
