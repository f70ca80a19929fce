// SPDX-License-Identifier: Apache-2.0
#include "input/input_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "input/perf_internal.h"
#include "profile/events.h"
#include "profile/threads.h"
#include "recording/recording_internal.h"
#include "util/alloc.h"
#include "util/encode.h"

/* Events and threads may have any names, but their number is limited. */
enum { EVENTS_MOST = 255 };
#define WHO_TEXT_MAX ((size_t)4 << 20)

/* An event as in its first line. */
struct seen_event {
    char *name;
    bool has_period;
};

/* All events must be defined before the first sample. If a new event appears later, the text is
 * read again with all events that are known by then. */
struct seen_events {
    struct seen_event list[EVENTS_MOST];
    uint32_t count;
};

struct perf_text {
    struct input_text *text;
    struct seen_events *seen;
    struct import import;
    struct perf_header header;
    event_id events[EVENTS_MOST]; /* ids of `seen` */
    struct perf_stacks *stacks;   /* NULL before the first sample */
    struct text_cache *who;       /* threads, by name and ids */
    bool again;                   /* an event appeared too late */
    uint64_t newest;              /* time of the newest sample */
    uint64_t event_line;          /* line number of the newest event */
};

/* ---- events ---- */

/* True if the event is `cpu`. A file of beamflame has one event. An event with a frequency, without
 * a weight, and with a name that no event of beamflame has is named after its clock. */
static bool is_cpu(const struct perf_text *perf, const struct seen_event *event)
{
    return event == perf->seen->list && perf->header.own && !perf->header.weight.size &&
           perf->import.header.frequency && !event_is_known(event->name);
}

/* Define an event with its value: for perf the period, in ns if the event counts time. */
static event_id define(struct perf_text *perf, const struct seen_event *seen)
{
    struct profile *profile = perf->import.profile;
    struct event_entry event = {.value_count = 1};
    const char *value = "samples";

    if (is_cpu(perf, seen)) {
        perf->import.header.event =
            import_text(&perf->import, (struct span){seen->name, strlen(seen->name)});
        return event_define(profile, EVENT_CPU);
    }
    event.values[0].unit = UNIT_COUNT;
    if (perf->header.weight.size) {
        value = perf->header.weight.at;
        event.values[0].unit = perf->header.unit;
    } else if (!perf->header.own && seen->has_period) {
        value = "period";
        event.values[0].unit = event_clock_is_timer(seen->name) ? UNIT_NS : UNIT_COUNT;
    }
    event.name = profile_string_z(profile, seen->name);
    event.values[0].name = profile_string_z(profile, value);
    return profile_event(profile, &event);
}

static char *event_name(const struct perf_text *perf, struct span event)
{
    struct buffer name = {0};

    if (!perf->header.own)
        return xstrndup(event.at, event.size);
    encode_undo_escapes(&name, event.at, event.size);
    buffer_byte(&name, '\0');
    return name.data;
}

/* The index of the event in the list, or the list's count if it is not there. */
static uint32_t find_event(const struct seen_events *seen, const char *name)
{
    uint32_t i = 0;

    while (i < seen->count && strcmp(seen->list[i].name, name) != 0)
        i++;
    return i;
}

static int add_event(struct perf_text *perf, char *name, bool has_period, struct error *error)
{
    struct seen_events *seen = perf->seen;

    if (!name[0] || seen->count == EVENTS_MOST) {
        free(name);
        return seen->count == EVENTS_MOST
                   ? input_text_fail(perf->text, 0, error, "there are more than %d events",
                                     EVENTS_MOST)
                   : input_text_fail(perf->text, 0, error, "the event has no name");
    }
    seen->list[seen->count] = (struct seen_event){name, has_period};
    perf->again = perf->import.writer != NULL;
    if (!perf->again)
        perf->events[seen->count] = define(perf, &seen->list[seen->count]);
    seen->count++;
    return 0;
}

static int take_event(struct perf_text *perf, const struct perf_event_line *line, event_id *ret_id,
                      struct error *error)
{
    struct seen_events *seen = perf->seen;
    uint32_t index = 0;
    char *name;

    if (seen->count != 1 || !span_is(line->event, seen->list[0].name)) {
        name = event_name(perf, line->event);
        index = find_event(seen, name);
        if (index < seen->count)
            free(name);
        else if (add_event(perf, name, line->has_period, error))
            return -1;
    }
    *ret_id = perf->events[index];
    return 0;
}

/* ---- who ran ---- */

/* A thread whose name is that of a scheduler is one. */
static void set_scheduler(struct thread_entry *thread, const char *name)
{
    static const uint8_t kinds[THREAD_TYPES] = {
        [THREAD_SCHEDULER] = SCHEDULER_NORMAL,
        [THREAD_DIRTY_CPU] = SCHEDULER_DIRTY_CPU,
        [THREAD_DIRTY_IO] = SCHEDULER_DIRTY_IO,
    };
    uint32_t number;
    uint8_t kind = kinds[thread_type_of(name, &number)];

    if (kind == SCHEDULER_NONE || number > UINT16_MAX)
        return;
    thread->scheduler_kind = kind;
    thread->scheduler_number = (uint16_t)number;
}

static string_id thread_name(struct perf_text *perf, struct span comm)
{
    struct buffer name = {0};
    string_id id;

    if (perf->header.own)
        encode_undo_escapes(&name, comm.at, comm.size);
    else
        buffer_put(&name, comm.at, comm.size);
    id = profile_string(perf->import.profile, name.data, name.size);
    buffer_free(&name);
    return id;
}

static thread_id take_thread(struct perf_text *perf, const struct perf_event_line *line)
{
    struct profile *profile = perf->import.profile;
    struct thread_entry thread = {.tid = line->tid};
    thread_id id = input_text_cache_get(perf->who, 0, line->who);

    if (id)
        return id;
    thread.name = thread_name(perf, line->comm);
    set_scheduler(&thread, profile_text(profile, thread.name));
    if (line->pid)
        thread.target = profile_target(profile, &(struct target_entry){.pid = line->pid});
    id = profile_thread(profile, &thread);
    input_text_cache_put(perf->who, 0, line->who, id);
    return id;
}

static uint8_t status_named(struct span name)
{
    for (int status = STATUS_NONE + 1; status < STATUS_COUNT; status++)
        if (span_is(name, profile_status_name((enum process_status)status)))
            return (uint8_t)status;
    return STATUS_NONE;
}

/* Read "<tab>metric_erlang_reductions: 1200, -5" and so on: the value of each metric. */
static void take_metrics(struct span text, struct metrics *metrics)
{
    static const char prefix[] = "\tmetric_erlang_";
    const char *at;

    while ((at = memmem(text.at, text.size, prefix, strlen(prefix)))) {
        const char *colon;
        struct span name, rest;
        uint64_t value;

        text = span_skip(text, (size_t)(at - text.at) + strlen(prefix));
        colon = memchr(text.at, ':', text.size);
        if (!colon)
            return;
        name = (struct span){text.at, (size_t)(colon - text.at)};
        rest = span_after_blank(span_skip(text, name.size + 1));
        for (int i = 0; i < METRICS; i++)
            if (span_is(name, metric_flame_prof_name((enum metric)i)) &&
                span_take_number(&rest, UINT64_MAX, &value))
                metrics_set(metrics, (enum metric)i, value);
    }
}

/* Read the process of a flame_prof line. "0.0.0": none ran. */
static void take_process(struct perf_text *perf, const struct perf_event_line *line,
                         struct sample *sample)
{
    struct profile *profile = perf->import.profile;
    char *pid;

    if (span_is(line->erlang_pid, "0.0.0"))
        return;
    pid = xasprintf("<%.*s>", (int)line->erlang_pid.size, line->erlang_pid.at);
    sample->process =
        profile_process(profile, &(struct process_entry){.pid = profile_string_z(profile, pid)});
    sample->status = status_named(line->comm);
    sample->flags |= SAMPLE_ERLANG;
    take_metrics(line->rest, &sample->metrics);
    free(pid);
}

/* ---- samples ---- */

/* The value of a sample. Lines of event `cpu` count samples, which stand for ns. */
static uint64_t value_of(const struct perf_text *perf, const struct perf_event_line *line,
                         event_id event)
{
    uint64_t count = line->period ? line->period : 1, period = 1;

    if (perf->import.header.frequency && event_is_cpu(perf->import.profile, event))
        period = 1000000000 / perf->import.header.frequency;
    return count < UINT64_MAX / period ? count * period : UINT64_MAX;
}

/* Read the stack: the frames that follow, or the frame at the end of the event's own line. */
static int take_stack(struct perf_text *perf, const struct perf_event_line *line, string_id comm,
                      stack_id *ret_stack, struct error *error)
{
    struct perf_frame_line frame;
    struct perf_stack stack;
    struct span text = {"", 0}, own_line;
    uint64_t bad, lines;
    int next;

    if (perf_line_frame(line->rest, &frame) && frame.module.size) {
        text = line->rest;
    } else if (!line->alone) {
        input_text_keep(perf->text);
        while ((next = input_text_peek(perf->text)) == ' ' || next == '\t')
            if (input_text_line(perf->text, &own_line, error) < 0)
                return -1;
        text = input_text_kept(perf->text);
    }
    lines = input_text_line_number(perf->text) - perf->event_line;
    bad = perf_stacks_read(perf->stacks, text, comm, &stack);
    if (bad)
        return input_text_fail(perf->text, lines < bad ? 0 : lines - bad, error,
                               "this is not a frame (ADDRESS SYMBOL (MODULE))");
    if (import_frames(&perf->import, perf->text, stack.frames, error))
        return -1;
    perf->import.totals.unknown_native_frames += stack.unresolved;
    *ret_stack = stack.stack;
    return 0;
}

static int check_time(struct perf_text *perf, uint64_t time, struct error *error)
{
    if (perf->newest > REORDER_NS && time < perf->newest - REORDER_NS)
        return input_text_fail(
            perf->text, 0, error,
            "time goes back from %" PRIu64 ".%06u to %" PRIu64
            ".%06u s; give several files as several arguments instead of joining them",
            perf->newest / 1000000000, (unsigned)(perf->newest % 1000000000 / 1000),
            time / 1000000000, (unsigned)(time % 1000000000 / 1000));
    if (perf->newest < time)
        perf->newest = time;
    return 0;
}

/* The comments before the first sample are read now. */
static void begin_samples(struct perf_text *perf)
{
    perf->stacks = perf_stacks_new(perf->import.profile, perf->header.own);
    for (uint32_t i = 0; i < perf->seen->count; i++)
        perf->events[i] = define(perf, &perf->seen->list[i]);
}

static int take_sample(struct perf_text *perf, struct span text, struct error *error)
{
    struct perf_event_line line;
    struct sample sample = {.flags = SAMPLE_NAMED};
    const char *problem = perf_line_event(text, &line);
    string_id comm;

    if (problem)
        return input_text_fail(perf->text, 0, error, "%s", problem);
    perf->event_line = input_text_line_number(perf->text);
    if (!perf->stacks)
        begin_samples(perf);
    if (check_time(perf, line.time, error) || take_event(perf, &line, &sample.event, error))
        return -1;
    if (perf->again)
        return 0;
    sample.time = line.time;
    sample.cpu = line.cpu;
    sample.values[0] = value_of(perf, &line, sample.event);
    if (line.erlang_pid.size) {
        take_process(perf, &line, &sample);
        comm = profile_string(perf->import.profile, line.comm.at, line.comm.size);
    } else {
        sample.thread = take_thread(perf, &line);
        comm = profile_get_thread(perf->import.profile, sample.thread)->name;
    }
    /* From here on, what the line points to is invalid. */
    if (take_stack(perf, &line, comm, &sample.stack, error))
        return -1;
    return import_sample(&perf->import, &sample, input_text_bytes(perf->text), error);
}

static int read_lines(struct perf_text *perf, struct error *error)
{
    struct span line;
    int got = 0, failed = 0;

    while (!failed && !perf->again && (got = input_text_line(perf->text, &line, error)) > 0) {
        if (line.size && line.at[0] == '#')
            perf_header_take(&perf->header, line, &perf->import);
        else if (line.size)
            failed = take_sample(perf, line, error);
    }
    return failed || got < 0 ? -1 : 0;
}

/* Read the whole text with the events that are known. */
static int read_once(struct perf_text *perf, struct error *error)
{
    if (input_text_rewind(perf->text, error) || read_lines(perf, error) || perf->again)
        return -1;
    if (!perf->import.writer)
        return error_set(error, ERROR_NO_SAMPLES, "%s: it has no samples",
                         input_text_name(perf->text));
    return import_finish(&perf->import, error);
}

static int read_with(struct input_text *text, struct seen_events *seen, const char *directory,
                     bool *ret_again, struct error *error)
{
    struct perf_text perf = {
        .text = text,
        .seen = seen,
        .import = import_new(directory, input_text_name(text)),
        .who = input_text_cache_new(WHO_TEXT_MAX),
    };
    int fd = read_once(&perf, error);

    *ret_again = perf.again;
    import_free(&perf.import);
    perf_stacks_free(perf.stacks);
    input_text_cache_free(perf.who);
    return fd;
}

int perf_text_import(struct input_text *text, const char *directory, struct error *error)
{
    struct seen_events seen = {.count = 0};
    bool again;
    int fd;

    do
        fd = read_with(text, &seen, directory, &again, error);
    while (again);
    for (uint32_t i = 0; i < seen.count; i++)
        free(seen.list[i].name);
    return fd;
}
