// SPDX-License-Identifier: Apache-2.0
#include "output/html/html_internal.h"

#include "util/clock.h"
#include "util/intern.h"

/* Add a column of a table with `count` entries: `number` returns the number of an entry. */
static void add_column(struct html_columns *columns, const char *name,
                       const struct profile *profile, uint32_t count,
                       uint32_t (*number)(const struct profile *profile, uint32_t id))
{
    struct html_column *column = html_columns_add(columns, "%s", name);
    uint32_t last = 0;

    for (uint32_t id = 1; id <= count; id++) {
        uint32_t next = number(profile, id);

        html_column_signed(column, (int64_t)next - last);
        last = next;
    }
    html_column_close(column);
}

#define NUMBER(function, get, field)                                                               \
    static uint32_t function(const struct profile *profile, uint32_t id)                           \
    {                                                                                              \
        return get(profile, id)->field;                                                            \
    }
NUMBER(frame_symbol, profile_get_frame, symbol)
NUMBER(frame_file, profile_get_frame, file)
NUMBER(frame_line, profile_get_frame, line)
NUMBER(frame_kind, profile_get_frame, kind)
NUMBER(frame_unnamed, profile_get_frame, unresolved)
NUMBER(stack_frame, profile_get_stack, frame)
NUMBER(process_target, profile_get_process, target)
NUMBER(process_pid, profile_get_process, pid)
NUMBER(process_name, profile_get_process, name)
NUMBER(process_label, profile_get_process, label)
NUMBER(process_label_is_detail, profile_get_process, label_is_detail)
NUMBER(process_initial_call, profile_get_process, initial_call)
NUMBER(process_application, profile_get_process, application)
NUMBER(process_parent, profile_get_process, parent)
NUMBER(process_ancestors, profile_get_process, ancestors)
NUMBER(ancestor_up, profile_get_ancestor, up)
NUMBER(ancestor_name, profile_get_ancestor, name)
NUMBER(thread_target, profile_get_thread, target)
NUMBER(thread_tid, profile_get_thread, tid)
NUMBER(thread_name, profile_get_thread, name)
NUMBER(thread_kind, profile_get_thread, scheduler_kind)
NUMBER(thread_number, profile_get_thread, scheduler_number)
#undef NUMBER

/* The path of the frame's module, or 0. */
static uint32_t frame_module(const struct profile *profile, uint32_t id)
{
    module_id module = profile_get_frame(profile, id)->module;

    return module ? profile_get_module(profile, module)->path : 0;
}

/* The build id of the frame's module, or 0. */
static uint32_t frame_build(const struct profile *profile, uint32_t id)
{
    module_id module = profile_get_frame(profile, id)->module;

    return module ? profile_get_module(profile, module)->build_id : 0;
}

/* The distance from a node back to its parent: 1 if the parent was added right before the node. */
static void add_distances(struct html_columns *columns, const struct profile *profile)
{
    struct html_column *column = html_columns_add(columns, "stack.distance");

    for (stack_id id = 1; id <= profile_counts(profile).stacks; id++)
        html_column_number(column, id - profile_get_stack(profile, id)->parent);
    html_column_close(column);
}

static void add_strings(struct html_columns *columns, const struct profile *profile)
{
    struct html_column *column = html_columns_add(columns, "strings");

    for (string_id id = 1; id <= profile_counts(profile).strings; id++)
        html_column_text(column, profile_text(profile, id));
    html_column_close(column);
}

/* The distance from an entry back to the first entry of the same process. A process gets a new
 * entry when its name changes, but keeps its identity. */
static void add_same(struct html_columns *columns, const struct profile *profile)
{
    struct html_process_key {
        uint64_t identity;
        uint64_t target;
    };
    struct first {
        struct html_process_key key;
        process_id process;
    };
    struct html_column *column = html_columns_add(columns, "process.same");
    struct intern firsts;

    intern_init(&firsts, sizeof(struct first), sizeof(struct html_process_key));
    for (process_id id = 1; id <= profile_counts(profile).processes; id++) {
        const struct process_entry *process = profile_get_process(profile, id);
        struct first first = {{process->identity, process->target}, id};
        const struct first *found = intern_get(&firsts, intern_add(&firsts, &first));

        html_column_number(column, id - found->process);
    }
    html_column_close(column);
    intern_free(&firsts);
}

void html_tables_add(const struct profile *profile, struct html_columns *columns)
{
    struct profile_counts counts = profile_counts(profile);
    const struct {
        const char *name;
        uint32_t count;
        uint32_t (*number)(const struct profile *profile, uint32_t id);
    } list[] = {
        {"frame.symbol", counts.frames, frame_symbol},
        {"frame.module", counts.frames, frame_module},
        {"frame.file", counts.frames, frame_file},
        {"frame.line", counts.frames, frame_line},
        {"frame.kind", counts.frames, frame_kind},
        {"frame.build", counts.frames, frame_build},
        {"frame.unnamed", counts.frames, frame_unnamed},
        {"stack.frame", counts.stacks, stack_frame},
        {"process.target", counts.processes, process_target},
        {"process.pid", counts.processes, process_pid},
        {"process.name", counts.processes, process_name},
        {"process.label", counts.processes, process_label},
        {"process.labelIsDetail", counts.processes, process_label_is_detail},
        {"process.initialCall", counts.processes, process_initial_call},
        {"process.application", counts.processes, process_application},
        {"process.parent", counts.processes, process_parent},
        {"process.ancestors", counts.processes, process_ancestors},
        {"ancestor.up", counts.ancestors, ancestor_up},
        {"ancestor.name", counts.ancestors, ancestor_name},
        {"thread.target", counts.threads, thread_target},
        {"thread.tid", counts.threads, thread_tid},
        {"thread.name", counts.threads, thread_name},
        {"thread.kind", counts.threads, thread_kind},
        {"thread.number", counts.threads, thread_number},
    };

    add_strings(columns, profile);
    add_distances(columns, profile);
    add_same(columns, profile);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        add_column(columns, list[i].name, profile, list[i].count, list[i].number);
}

/* ---- spans ---- */

static uint64_t microseconds(uint64_t time, uint64_t start)
{
    return clock_since(start, time) / 1000;
}

static void add_spans(struct html_column *column, const struct spans *spans, uint64_t start)
{
    uint64_t last = 0;

    for (size_t i = 0; i < spans->count; i++) {
        uint64_t from = microseconds(spans->list[i].start, start);
        uint64_t to = microseconds(spans->list[i].end, start);

        if (!to)
            continue; /* before the recording */
        html_column_number(column, from - last);
        html_column_number(column, to - from);
        last = to;
    }
    html_column_close(column);
}

void html_tables_add_spans(struct html_columns *columns, const struct output_source *source,
                           const uint8_t *events)
{
    const struct event_spans *seen = recording_get_spans(source->recording);
    const struct event_spans *recorded = recording_get_recorded(source->recording);
    uint64_t start = source->header->start_monotonic;

    for (event_id id = 0; id <= profile_counts(source->profile).events; id++) {
        unsigned number = id ? events[id] : 0;

        if (id && !number)
            continue;
        if (event_spans_get(seen, id))
            add_spans(html_columns_add(columns, "spans %u", number), event_spans_get(seen, id),
                      start);
        if (event_spans_get(recorded, id))
            add_spans(html_columns_add(columns, "recorded %u", number),
                      event_spans_get(recorded, id), start);
    }
}

/* ---- metrics of VMs ---- */

static uint64_t milliseconds(uint64_t time, uint64_t start)
{
    return clock_since(start, time) / 1000000;
}

static void add_series(struct html_column *column, const struct node_series *series, uint64_t start)
{
    uint64_t last_ms = 0, last = 0;

    html_column_number(column, series->key.target);
    html_column_number(column, series->key.metric);
    html_column_number(column, series->key.of);
    html_column_number(column, series->key.id);
    html_column_number(column, series->owner);
    html_column_number(column, series->count);
    for (size_t i = 0; i < series->count; i++) {
        uint64_t ms = milliseconds(series->list[i].time, start);

        html_column_number(column, ms - last_ms);
        html_column_signed(column, (int64_t)(series->list[i].value - last));
        last_ms = ms;
        last = series->list[i].value;
    }
}

void html_tables_add_node_metrics(struct html_columns *columns, const struct output_source *source)
{
    const struct node_metrics *metrics = recording_get_node_metrics(source->recording);
    struct html_column *column;

    if (!metrics->readings)
        return;
    column = html_columns_add(columns, "node metrics");
    for (size_t i = 0; i < metrics->count; i++)
        if (metrics->of[i].count)
            add_series(column, &metrics->of[i], source->header->start_monotonic);
    html_column_close(column);
}
