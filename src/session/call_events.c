// SPDX-License-Identifier: Apache-2.0
#include "session/call_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/call_watch.h"
#include "os/process.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/confidence.h"
#include "util/intern.h"
#include "util/number.h"

static const uint64_t SAMPLES_NS = 1000000000; /* from one sample of a process to the next */

/* Samples of a process in a second, if each call stands for several: rows of a table take a sample
 * for one hit, and many make their intervals narrow (profile/row_interval.h). */
static const uint64_t SCALED_SAMPLES = 16;

/* A function, and what this segment has of it. */
struct counted_event {
    char *symbol; /* "shop:price/2" */
    event_id id;
    uint8_t kind; /* enum frame_kind */
    frame_id frame;
    uint64_t calls, seen;  /* those that samples stand for, and those that were seen of them */
    uint64_t before;       /* the same in earlier segments, of this watch: all were counted */
    uint64_t unowned;      /* the part of `calls` without a process */
    uint64_t weight;       /* without a process, of all segments */
    double half;           /* of the interval of `calls`; NAN: unknown */
    struct call_sums sums; /* while samples are taken: of the function, before its rows were read */
    uint64_t row_weight;   /* and of its rows */
};

struct call_events {
    const struct session_options *options;
    const struct target *target;
    struct counted_event of[WIRE_CALL_FUNCTIONS];
    uint32_t count;
    struct call_watch *watch;    /* NULL: nothing is counted */
    bool is_over;                /* the watch has ended, and its last calls have samples */
    bool continues;              /* another watch begins with the next segment */
    struct intern rows;          /* keys of the kernel's map of processes */
    struct wire_call_row *known; /* by id of the key - 1: what samples stand for */
    size_t known_room;
    uint64_t until, due; /* ns, CLOCK_MONOTONIC: the next step of the watch, the next samples */
    uint64_t sampled;    /* the last ones */
    uint64_t watched;    /* the watch counts since then */
    /* When the segment began, or the watch within it. */
    struct {
        uint64_t time, cpu;
    } before;
    uint64_t ended; /* the watch; 0: not yet */
};

/* ---- functions ---- */

/* Parse the names of the options, and later those of the functions that were found: a pattern may
 * match others by now. */
static int parse_names(const struct call_events *events, struct function_name *names, size_t count,
                       struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = events->count ? events->of[i].symbol : events->options->functions[i];

        if (function_name_parse(text, &names[i], error))
            return -1;
    }
    return 0;
}

static int find(struct call_events *events, struct error *error)
{
    struct function_name *names = xcalloc(WIRE_CALL_FUNCTIONS, sizeof(*names));
    size_t count = events->count ? events->count : events->options->function_count;
    int result = parse_names(events, names, count, error);

    if (!result)
        events->watch = call_watch_new(events->target->vm, error);
    if (!events->watch || call_watch_find(events->watch, names, count, error))
        result = -1;
    free(names);
    return result;
}

static void define(struct call_events *events, struct segment *segment)
{
    struct profile *profile = segment->profile;

    for (uint32_t i = 0; i < events->count; i++) {
        struct counted_event *event = &events->of[i];
        char *name = xasprintf(EVENT_CALL "%s", event->symbol);
        struct frame frame = {.kind = event->kind,
                              .symbol = profile_string_z(profile, event->symbol)};

        event->id = event_define(profile, name);
        event->frame = profile_frame(profile, &frame);
        event->calls = event->seen = event->unowned = 0;
        event->half = 0;
        event_spans_place(&segment->spans, event->id);
        free(name);
    }
}

struct call_events *call_events_new(const struct session_options *options,
                                    const struct target *target, struct segment *segment,
                                    struct error *error)
{
    struct call_events *events = xcalloc(1, sizeof(*events));
    const struct call_functions *functions;

    events->options = options;
    events->target = target;
    intern_init(&events->rows, sizeof(struct wire_call_key), sizeof(struct wire_call_key));
    if (find(events, error)) {
        call_events_free(events);
        return NULL;
    }
    functions = call_watch_functions(events->watch);
    for (size_t i = 0; i < functions->count; i++)
        events->of[events->count++] =
            (struct counted_event){.symbol = xstrdup(functions->of[i].symbol),
                                   .kind = functions->of[i].bif ? FRAME_BIF : FRAME_ERLANG};
    define(events, segment);
    return events;
}

static void free_watch(struct call_events *events)
{
    call_watch_free(events->watch);
    events->watch = NULL;
}

void call_events_free(struct call_events *events)
{
    if (!events)
        return;
    free_watch(events);
    for (uint32_t i = 0; i < events->count; i++)
        free(events->of[i].symbol);
    intern_free(&events->rows);
    free(events->known);
    free(events);
}

/* ---- counting ---- */

static bool is_counting(const struct call_events *events)
{
    return events && events->watch && !events->ended;
}

static void note_begin(struct call_events *events)
{
    events->before.time = events->sampled = clock_ns(CLOCK_MONOTONIC);
    process_cpu_time(events->target->vm->pid, &events->before.cpu);
}

int call_events_start(struct call_events *events, struct error *error)
{
    double budget = session_options_call_budget(events->options);
    const struct call_watch_options options = {.budget = budget, .by_caller = true};

    if (call_watch_start(events->watch, &options, error))
        return -1;
    note_begin(events);
    events->watched = events->before.time;
    events->due = events->sampled + SAMPLES_NS;
    return 0;
}

static void warn_of_end(const struct call_events *events, const struct call_facts *facts)
{
    if (facts->end == CALL_END_ERROR)
        events->options->warn("calls are not counted any more: %s", facts->error.text);
    if (facts->reloads)
        events->options->warn("the VM loaded code %u times: calls of a new version in its first "
                              "%.2f s may be missing",
                              facts->reloads, facts->blind_seconds);
    if (facts->missing_threads)
        events->options->warn("calls in %u schedulers are not counted: their threads were not "
                              "found",
                              facts->missing_threads);
}

void call_events_stop(struct call_events *events)
{
    struct call_facts facts;

    if (!is_counting(events))
        return;
    call_watch_end(events->watch, &facts);
    events->ended = clock_ns(CLOCK_MONOTONIC);
    warn_of_end(events, &facts);
}

int call_events_limit_timeout(const struct call_events *events, int timeout_ms)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), until, left_ms;

    if (!is_counting(events))
        return timeout_ms;
    until = events->until < events->due ? events->until : events->due;
    left_ms = until > now ? (until - now) / 1000000 : 0;
    return left_ms < (uint64_t)timeout_ms ? (int)left_ms + 1 : timeout_ms;
}

/* ---- samples ---- */

static bool is_scaled(const struct call_events *events)
{
    return call_windows_scale(call_watch_windows(events->watch));
}

static int append(const struct call_events *events, struct counted_event *event,
                  struct segment *segment, struct sample *sample, uint64_t calls,
                  struct error *error)
{
    sample->event = event->id;
    sample->values[PLACE_COUNT] = calls;
    sample->flags = is_scaled(events) ? 0 : SAMPLE_EXACT;
    event->calls = saturating_sum(event->calls, calls);
    if (!sample->process)
        event->unowned = saturating_sum(event->unowned, calls);
    return segment_append(segment, sample, error);
}

/* The calls that a weight stands for. */
static uint64_t calls_of(uint64_t weight)
{
    return weight / WIRE_CALL_WEIGHT;
}

struct sample_maker {
    struct call_events *events;
    struct segment *segment;
    uint64_t now;
    int result;
    struct error *error;
};

/* The stack of the calls of a row: the caller, unless a process began with them, and the function.
 */
static stack_id stack_of(const struct sample_maker *maker, const struct wire_call_key *row)
{
    struct profile *profile = maker->segment->profile;
    struct frame frame = {.kind = FRAME_MARK};
    struct call_named caller;
    enum caller_kind kind = call_watch_caller(maker->events->watch, row, &caller);
    stack_id parent = 0;

    if (kind == CALLER_IS_FUNCTION)
        frame = (struct frame){.kind = FRAME_ERLANG,
                               .symbol = profile_string_z(profile, caller.name),
                               .file = *caller.more ? profile_string_z(profile, caller.more) : 0,
                               .line = caller.line};
    else if (kind == CALLER_UNKNOWN)
        frame.symbol = profile_string_z(profile, FRAMES_MISSING);
    if (frame.symbol)
        parent = profile_stack(profile, 0, profile_frame(profile, &frame));
    return profile_stack(profile, parent, maker->events->of[row->function].frame);
}

/* Append the calls of a process since the last time. */
static void take_row(struct sample_maker *maker, const struct wire_call_key *key,
                     struct wire_call_row before, const struct wire_call_row *row)
{
    struct call_events *events = maker->events;
    struct counted_event *event = &events->of[key->function];
    uint64_t calls = calls_of(row->weight) - calls_of(before.weight), given = 0;
    uint64_t seen = row->calls - before.calls;
    uint64_t pieces = !is_scaled(events) || !seen ? 1
                      : seen < SCALED_SAMPLES     ? seen
                                                  : SCALED_SAMPLES;
    struct sample sample = {.time = maker->now};

    event->seen += seen;
    if (!calls)
        return;
    sample.process = symbolizer_process(events->target->symbolizer, key->who, maker->now);
    sample.stack = stack_of(maker, key);
    for (uint64_t i = 1; i <= pieces && !maker->result; i++) {
        uint64_t until = calls / pieces * i + calls % pieces * i / pieces;

        if (until > given)
            maker->result =
                append(events, event, maker->segment, &sample, until - given, maker->error);
        given = until;
    }
}

static void visit_row(void *context, const struct wire_call_key *key,
                      const struct wire_call_row *row)
{
    struct sample_maker *maker = context;
    struct call_events *events = maker->events;
    uint32_t known = events->rows.count, id;

    if (key->function >= events->count || maker->result)
        return;
    id = intern_add(&events->rows, key);
    events->known = xgrow(events->known, &events->known_room, id - 1, sizeof(*events->known));
    if (id > known)
        events->known[id - 1] = (struct wire_call_row){0};
    events->of[key->function].row_weight += row->weight;
    take_row(maker, key, events->known[id - 1], row);
    events->known[id - 1] = *row;
}

/* Append the calls without a row: those of processes for which the kernel's map had no room, and,
 * when counting has ended, the hits for which the kernel did not run the BPF program. */
static void take_unowned(struct sample_maker *maker, struct counted_event *event)
{
    stack_id stack = profile_stack(maker->segment->profile, 0, event->frame);
    struct sample sample = {.time = maker->now, .stack = stack};
    uint64_t weight = event->sums.counts.weight, calls;

    if (maker->events->ended && !is_scaled(maker->events))
        weight += event->sums.missed * WIRE_CALL_WEIGHT;
    if (weight <= event->row_weight + event->weight)
        return;
    calls = calls_of(weight - event->row_weight) - calls_of(event->weight);
    event->weight = weight - event->row_weight;
    event->seen += is_scaled(maker->events) ? 0 : calls;
    if (calls)
        maker->result = append(maker->events, event, maker->segment, &sample, calls, maker->error);
}

/* Read the sums of functions before their rows. A call that comes between the two then has a row,
 * and does not count as one without. */
static int take(struct call_events *events, struct segment *segment, struct error *error)
{
    const struct call_counter *counter = call_watch_counter(events->watch);
    struct sample_maker maker = {.events = events,
                                 .segment = segment,
                                 .now = events->ended ? events->ended : clock_ns(CLOCK_MONOTONIC),
                                 .error = error};

    for (uint32_t i = 0; i < events->count; i++) {
        events->of[i].sums = call_counter_sums(counter, i);
        events->of[i].row_weight = 0;
        event_spans_add(&segment->spans, events->of[i].id, events->sampled, maker.now);
    }
    call_counter_each(counter, CALL_MAP_PROCESSES, visit_row, &maker);
    for (uint32_t i = 0; i < events->count && !maker.result; i++)
        take_unowned(&maker, &events->of[i]);
    events->sampled = maker.now;
    events->due = maker.now + SAMPLES_NS;
    return maker.result;
}

int call_events_step(struct call_events *events, struct segment *segment, struct error *error)
{
    if (!is_counting(events))
        return 0;
    if (clock_ns(CLOCK_MONOTONIC) >= events->until &&
        !call_watch_step(events->watch, &events->until))
        call_events_stop(events);
    return is_counting(events) && clock_ns(CLOCK_MONOTONIC) >= events->due
               ? take(events, segment, error)
               : 0;
}

/* ---- segments ---- */

static struct counted_event *event_of(struct call_events *events, const char *symbol)
{
    for (uint32_t i = 0; i < events->count; i++)
        if (!strcmp(events->of[i].symbol, symbol))
            return &events->of[i];
    return NULL;
}

/* Take the totals of windows, which are better than the sums of what each window stands for: they
 * know that hits slow the VM down. The reader makes samples add up to them. */
static void take_totals(struct call_events *events, struct segment *segment)
{
    target_id target = symbolizer_target(events->target->symbolizer);
    struct call_report *report = xcalloc(1, sizeof(*report));

    call_watch_report(events->watch, report);
    for (size_t i = 0; i < report->count; i++) {
        struct counted_event *event = event_of(events, report->of[i].symbol);
        uint64_t totals[EVENT_VALUES] = {0};

        if (!event)
            continue;
        event->calls =
            report->of[i].calls > event->before ? report->of[i].calls - event->before : 0;
        event->half = report->of[i].half;
        totals[PLACE_COUNT] = event->calls > event->unowned ? event->calls - event->unowned : 0;
        recording_put_values(segment->writer, event->id, target, totals);
    }
    call_report_free(report);
    free(report);
}

int call_events_end_segment(struct call_events *events, struct segment *segment,
                            struct error *error)
{
    if (!events || !events->watch || events->is_over)
        return 0;
    events->continues = is_counting(events) && is_scaled(events);
    if (events->continues)
        call_events_stop(events);
    if (take(events, segment, error))
        return -1;
    events->is_over = events->ended != 0;
    if (is_scaled(events))
        take_totals(events, segment);
    return 0;
}

static uint64_t error_of(const struct call_events *events, const struct counted_event *event)
{
    if (!is_scaled(events))
        return 0;
    return !events->ended || isnan(event->half) ? EVENT_ERROR_UNKNOWN
                                                : whole_part(ceil(event->half / NORMAL_95_PERCENT));
}

static struct event_summary summary_of(const struct call_events *events,
                                       const struct counted_event *event)
{
    const struct call_windows *windows = call_watch_windows(events->watch);
    struct event_summary summary = {
        .event = event->id,
        .hits = event->seen,
        .span_ns = events->sampled - events->before.time,
        .sums[PLACE_COUNT] = event->calls,
        .errors[PLACE_COUNT] = error_of(events, event),
    };
    uint64_t cpu = events->before.cpu;

    process_cpu_time(events->target->vm->pid, &cpu); /* stays if the VM has ended */
    summary.target_cpu_ns = cpu - events->before.cpu;
    summary.cost_ns =
        whole_part((double)event->seen * call_counter_hit_ns(call_watch_counter(events->watch)));
    summary.covered_ns = summary.span_ns;
    if (!is_scaled(events))
        return summary;
    summary.windows = call_windows_count(windows);
    summary.covered_ns = whole_part(call_windows_covered_ns(windows) -
                                    (double)(events->before.time - events->watched));
    return summary;
}

int call_events_put_summaries(const struct call_events *events, struct segment *segment,
                              struct error *error)
{
    for (uint32_t i = 0; events && events->watch && i < events->count; i++) {
        const struct event_summary summary = summary_of(events, &events->of[i]);

        if (recording_put_summary(segment->writer, segment->profile, &summary, error))
            return -1;
    }
    return 0;
}

/* The counts of another watch begin at 0. */
static void forget_counts(struct call_events *events)
{
    intern_free(&events->rows);
    intern_init(&events->rows, sizeof(struct wire_call_key), sizeof(struct wire_call_key));
    for (uint32_t i = 0; i < events->count; i++)
        events->of[i].weight = events->of[i].before = 0;
    events->ended = events->until = 0;
    events->is_over = events->continues = false;
}

void call_events_resume(struct call_events *events)
{
    struct error error;

    if (!events)
        return;
    forget_counts(events);
    if (find(events, &error) == 0 && call_events_start(events, &error) == 0)
        return;
    free_watch(events);
    events->options->warn("calls are not counted any more: %s", error.text);
}

void call_events_begin_segment(struct call_events *events, struct segment *segment)
{
    if (!events)
        return;
    for (uint32_t i = 0; i < events->count; i++)
        events->of[i].before += events->of[i].calls;
    define(events, segment);
    if (is_counting(events))
        note_begin(events);
    else
        free_watch(events);
    if (events->continues)
        call_events_resume(events);
}
