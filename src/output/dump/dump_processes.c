// SPDX-License-Identifier: Apache-2.0
#include "output/dump/writers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "profile/trace_text.h"
#include "util/alloc.h"

enum { MEMBERS_SHOWN = 5 };

/* Processes with equal stack and status: a range of dump->processes, sorted by in_order(). */
struct process_group {
    size_t first, count;
};

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_stack(const struct dump_process *x, const struct dump_process *y)
{
    int order = compare(x->stack, y->stack);

    return order ? order : compare(x->status, y->status);
}

/* By stack and status; within a group the greatest first. Processes that were selected by a metric
 * are in the order of that metric, so a group has neighbours only. */
static int in_order(const void *a, const void *b, void *context)
{
    const struct dump_process *x = a, *y = b;
    const struct dump *dump = context;
    int by_rank = dump_compare_processes(dump, x, y);
    int order = dump->is_top ? by_rank : by_stack(x, y);

    if (!order)
        order = dump->is_top ? by_stack(x, y) : by_rank;
    return order ? order : compare(x->process, y->process);
}

/* The largest group first. */
static int by_size(const void *a, const void *b)
{
    const struct process_group *x = a, *y = b;
    int order = compare(y->count, x->count);

    return order ? order : compare(x->first, y->first);
}

static struct process_group *make_groups(struct dump *dump, size_t *ret_count)
{
    const struct dump_process *processes = dump->processes;
    size_t count = dump->count;
    struct process_group *groups = xcalloc(count + 1, sizeof(*groups));
    size_t groups_made = 0;

    for (size_t i = 0; i < count; i++) {
        if (i && !by_stack(&processes[i], &processes[i - 1]))
            groups[groups_made - 1].count++;
        else
            groups[groups_made++] = (struct process_group){i, 1};
    }
    if (!dump->is_top)
        qsort(groups, groups_made, sizeof(*groups), by_size);
    *ret_count = groups_made;
    return groups;
}

static bool holds(const struct dump *dump, const struct process_group *group, process_id process)
{
    for (size_t i = group->first; i < group->first + group->count; i++)
        if (dump->processes[i].process == process)
            return true;
    return false;
}

/* Move the group of the crashed process to the front: readers look for it first. */
static void put_crashed_first(const struct dump *dump, struct process_group *groups, size_t count)
{
    struct process_group first;
    size_t at = 0;

    while (at < count && !holds(dump, &groups[at], dump->crashed_process))
        at++;
    if (!dump->crashed_process || at == count)
        return;
    first = groups[at];
    memmove(groups + 1, groups, at * sizeof(*groups));
    groups[0] = first;
}

/* True for the oldest frame of a run of the same function. */
static bool begins_run(const struct profile *profile, const struct stack_node *node)
{
    const struct stack_node *parent =
        node->parent ? profile_get_stack(profile, node->parent) : NULL;

    return !parent || profile_get_frame(profile, node->frame)->symbol !=
                          profile_get_frame(profile, parent->frame)->symbol;
}

/* Write a stack, leaf first, with a line for each run of the same function. */
static void write_stack(FILE *file, const struct dump *dump, stack_id stack)
{
    const struct profile *profile = dump->profile;
    uint32_t run = 1;

    if (!stack)
        fprintf(file, "    (no stack: %s)\n",
                dump->of_core ? "the core file does not have its thread"
                              : "its thread did not get a CPU meanwhile");
    for (const struct stack_node *node; stack; stack = node->parent) {
        const struct frame *frame;

        node = profile_get_stack(profile, stack);
        frame = profile_get_frame(profile, node->frame);
        if (!begins_run(profile, node)) {
            run++;
            continue;
        }
        fprintf(file, "    %s", profile_text(profile, frame->symbol));
        if (frame->file)
            fprintf(file, "  %s:%u", profile_text(profile, frame->file), frame->line);
        if (run > 1)
            fprintf(file, "  (%s calls)", number_text(run).text);
        putc('\n', file);
        run = 1;
    }
}

static void write_metrics(FILE *file, const struct metrics *metrics)
{
    if (metrics_know(metrics, METRIC_MSGQ))
        fprintf(file, "  msgq %s", number_text(metrics->values[METRIC_MSGQ]).text);
    if (metrics_know(metrics, METRIC_HEAP))
        fprintf(file, "  heap %s",
                number_text_amount(metrics->values[METRIC_HEAP] * 8, UNIT_BYTES).text);
    if (metrics_know(metrics, METRIC_REDUCTIONS))
        fprintf(file, "  reductions %s", number_text(metrics->values[METRIC_REDUCTIONS]).text);
}

/* "  msgq +17" */
static void write_growth(FILE *file, enum metric metric, int64_t growth)
{
    uint64_t amount = growth < 0 ? -(uint64_t)growth : (uint64_t)growth;
    struct number_text text = metric_unit(metric) == UNIT_WORDS
                                  ? number_text_amount(amount * 8, UNIT_BYTES)
                                  : number_text(amount);

    fprintf(file, "  %s %c%s", metric_name(metric), growth < 0 ? '-' : '+', text.text);
}

/* "  old 12.8 kB", unless write_metrics() has written it. */
static void write_top(FILE *file, enum metric metric, const struct metrics *metrics)
{
    uint64_t value = metrics->values[metric];

    if (metric == METRIC_MSGQ || metric == METRIC_HEAP || metric == METRIC_REDUCTIONS ||
        !metrics_know(metrics, metric))
        return;
    fprintf(file, "  %s %s", metric_name(metric),
            metric_unit(metric) == UNIT_WORDS ? number_text_amount(value * 8, UNIT_BYTES).text
                                              : number_text(value).text);
}

static void write_trace(FILE *file, const struct profile *profile, trace_span_id id)
{
    char trace[TRACE_ID_TEXT], span[SPAN_ID_TEXT];

    if (!id)
        return;
    trace_id_text(profile_get_trace_span(profile, id), trace);
    span_id_text(profile_get_trace_span(profile, id), span);
    fprintf(file, "  trace %s span %s", trace, span);
}

static void write_member(FILE *file, const struct dump *dump, const struct dump_process *member)
{
    const struct profile *profile = dump->profile;
    const struct process_entry *entry = profile_get_process(profile, member->process);
    string_id name = entry->name ? entry->name : entry->label ? entry->label : entry->initial_call;

    fprintf(file, "  %-14s %-30s", profile_text(profile, entry->pid), profile_text(profile, name));
    write_metrics(file, &member->metrics);
    if (dump->has_growth)
        write_growth(file, dump->top, member->growth);
    else if (dump->is_top)
        write_top(file, dump->top, &member->metrics);
    if (member->thread)
        fprintf(file, "  on %s",
                profile_text(profile, profile_get_thread(profile, member->thread)->name));
    write_trace(file, profile, member->trace_span);
    putc('\n', file);
}

static void write_group(FILE *file, const struct dump *dump, const struct process_group *group)
{
    const struct dump_process *first = &dump->processes[group->first];
    size_t shown = dump->is_top || group->count < MEMBERS_SHOWN ? group->count : MEMBERS_SHOWN;

    fprintf(file, "\n%s %s\n", number_text(group->count).text, profile_status_name(first->status));
    write_stack(file, dump, first->stack);
    for (size_t i = 0; i < shown; i++)
        write_member(file, dump, first + i);
    if (shown < group->count)
        fprintf(file, "  and %s more\n", number_text(group->count - shown).text);
}

/* Write how the VM ended, and how much is missing in its core. */
static void write_core(FILE *file, const struct dump *dump)
{
    const struct profile *profile = dump->profile;
    const char *name = sigabbrev_np(dump->signal);
    size_t cut = 0;

    if (dump->signal)
        fprintf(file, "ended by signal %d (SIG%s)", dump->signal, name ? name : "?");
    if (dump->crashed_process)
        fprintf(file, " in %s",
                profile_text(profile, profile_get_process(profile, dump->crashed_process)->pid));
    if (dump->signal)
        putc('\n', file);
    if (dump->gone)
        fprintf(file, "%s are not in the core\n", number_text(dump->gone).text);
    for (size_t i = 0; i < dump->count; i++)
        cut += !(dump->processes[i].flags & SAMPLE_COMPLETE);
    if (cut)
        fprintf(file, "%s have a stack with missing frames\n", number_text(cut).text);
}

static void write_head(FILE *file, const struct dump *dump)
{
    size_t by_status[STATUS_COUNT] = {0};
    const char *comma = "";

    for (size_t i = 0; i < dump->count; i++)
        by_status[dump->processes[i].status]++;
    fprintf(file, "%s processes: ", number_text(dump->count).text);
    for (int status = 0; status < STATUS_COUNT; status++) {
        if (!by_status[status])
            continue;
        fprintf(file, "%s%s %s", comma, number_text(by_status[status]).text,
                profile_status_name((enum process_status)status));
        comma = ", ";
    }
    putc('\n', file);
    if (dump->left_out)
        fprintf(file, "%s others were not selected\n", number_text(dump->left_out).text);
    if (dump->of_core)
        write_core(file, dump);
    else if (dump->gone)
        fprintf(file, "%s started or ended meanwhile\n", number_text(dump->gone).text);
    if (dump->torn)
        fprintf(file, "%s were running each time they were read, and are not shown\n",
                number_text(dump->torn).text);
}

void dump_processes_text(FILE *file, const struct dump *dump)
{
    struct dump sorted = *dump;
    size_t group_count;
    struct process_group *groups;

    sorted.processes = xreallocarray(NULL, dump->count + 1, sizeof(*dump->processes));
    if (dump->count)
        memcpy(sorted.processes, dump->processes, dump->count * sizeof(*dump->processes));
    qsort_r(sorted.processes, sorted.count, sizeof(*sorted.processes), in_order, &sorted);
    groups = make_groups(&sorted, &group_count);
    put_crashed_first(&sorted, groups, group_count);
    write_head(file, dump);
    for (size_t i = 0; i < group_count; i++)
        write_group(file, &sorted, &groups[i]);
    free(groups);
    free(sorted.processes);
}

/* ---- JSON ---- */

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
    json_signed(json, metric_name(dump->top), process->growth);
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
    json_trace_span(json, profile, process->trace_span);
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
