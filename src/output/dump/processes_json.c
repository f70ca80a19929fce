// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "output/dump/sections.h"
#include "util/alloc.h"

static void put_frame(struct json *json, const struct profile *profile, const struct frame *frame)
{
    json_open(json, NULL, '{');
    json_text(json, "function", profile_text(profile, frame->symbol));
    if (frame->file) {
        dump_text_json(json, "file", profile, frame->file);
        json_number(json, "line", frame->line);
    }
    json_close(json, '}');
}

static void put_stack(struct json *json, const struct profile *profile, stack_id stack)
{
    json_open(json, NULL, '[');
    for (; stack; stack = profile_get_stack(profile, stack)->parent)
        put_frame(json, profile,
                  profile_get_frame(profile, profile_get_stack(profile, stack)->frame));
    json_close(json, ']');
}

/* Write each stack of a process once. index[stack] gets its place in the array, from 1. */
static void put_stacks(struct json *json, const struct dump *dump, uint32_t *index)
{
    uint32_t count = 0;

    json_open_lines(json, "stacks", '[');
    for (size_t i = 0; i < dump->count; i++) {
        stack_id stack = dump->processes[i].stack;

        if (!stack || index[stack])
            continue;
        index[stack] = ++count;
        put_stack(json, dump->profile, stack);
    }
    json_close(json, ']');
}

static string_id current_function(const struct profile *profile, stack_id stack)
{
    for (; stack; stack = profile_get_stack(profile, stack)->parent) {
        const struct frame *frame =
            profile_get_frame(profile, profile_get_stack(profile, stack)->frame);

        if (frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF)
            return frame->symbol;
    }
    return 0;
}

/* Write the known metrics. */
static void put_metrics(struct json *json, const struct metrics *metrics)
{
    json_open(json, "metrics", '{');
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(metrics, (enum metric)i))
            json_number(json, metric_name((enum metric)i), metrics->values[i]);
    json_close(json, '}');
}

/* Write the process' application, the process that spawned it, and its ancestors, the nearest first
 * as in `$ancestors`. */
static void put_family(struct json *json, const struct profile *profile,
                       const struct process_entry *entry)
{
    string_id parent = entry->parent ? profile_get_process(profile, entry->parent)->pid : 0;
    const struct ancestor *ancestor;

    dump_text_json(json, "application", profile, entry->application);
    dump_text_json(json, "parent", profile, parent);
    json_open(json, "ancestors", '[');
    for (ancestor_id at = entry->ancestors; at; at = ancestor->up) {
        ancestor = profile_get_ancestor(profile, at);
        json_text(json, NULL, profile_text(profile, ancestor->name));
    }
    json_close(json, ']');
}

static void put_growth(struct json *json, const struct dump *dump,
                       const struct dump_process *process)
{
    if (!dump->has_growth)
        return;
    json_open(json, "growth", '{');
    json_signed(json, metric_name(dump->grown), process->growth);
    json_close(json, '}');
}

static void put_process(struct json *json, const struct dump *dump,
                        const struct dump_process *process, const uint32_t *index)
{
    const struct profile *profile = dump->profile;
    const struct process_entry *entry = profile_get_process(profile, process->process);

    json_open(json, NULL, '{');
    json_text(json, "pid", profile_text(profile, entry->pid));
    dump_text_json(json, "name", profile, entry->name);
    dump_text_json(json, "label", profile, entry->label);
    dump_text_json(json, "initial_call", profile, entry->initial_call);
    put_family(json, profile, entry);
    dump_text_json(json, "current_function", profile, current_function(profile, process->stack));
    json_text(json, "status", profile_status_name((enum process_status)process->status));
    if (process->thread)
        dump_text_json(json, "thread", profile, profile_get_thread(profile, process->thread)->name);
    put_metrics(json, &process->metrics);
    put_growth(json, dump, process);
    json_bool(json, "complete", process->flags & SAMPLE_COMPLETE);
    if (process->stack)
        json_number(json, "stack", index[process->stack] - 1);
    else
        json_null(json, "stack");
    json_close(json, '}');
}

void dump_processes_json(struct json *json, const struct dump *dump)
{
    uint32_t *index = xcalloc(profile_counts(dump->profile).stacks + 1, sizeof(*index));

    put_stacks(json, dump, index);
    json_open_lines(json, "processes", '[');
    for (size_t i = 0; i < dump->count; i++)
        put_process(json, dump, &dump->processes[i], index);
    json_close(json, ']');
    free(index);
}
