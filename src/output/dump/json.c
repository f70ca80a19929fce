// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "output/dump/writers.h"
#include "output/json/json.h"
#include "util/alloc.h"

static void write_text(FILE *file, const struct profile *profile, const char *key, string_id text)
{
    fprintf(file, ",\"%s\":", key);
    json_string_or_null(file, profile_text(profile, text));
}

static void write_core(FILE *file, const struct dump *dump)
{
    const struct profile *profile = dump->profile;

    fprintf(file, ",\"core\":true,\"signal\":%d", dump->signal);
    write_text(file, profile, "crashed_process",
               dump->crashed_process ? profile_get_process(profile, dump->crashed_process)->pid
                                     : 0);
}

static void write_target(FILE *file, const struct dump *dump)
{
    const struct profile *profile = dump->profile;
    const struct target_entry *target = profile_get_target(profile, dump->target);

    fprintf(file, "{\"pid\":%u", target->pid);
    write_text(file, profile, "node", target->node);
    write_text(file, profile, "otp_release", target->otp_release);
    write_text(file, profile, "erts", target->erts);
    fprintf(file, ",\"time\":%llu.%03u", (unsigned long long)(dump->realtime / 1000000000),
            (unsigned)(dump->realtime / 1000000 % 1000));
    if (dump->of_core)
        write_core(file, dump);
    fprintf(file, ",\"left_out\":%llu,\"gone\":%llu,\"torn\":%llu",
            (unsigned long long)dump->left_out, (unsigned long long)dump->gone,
            (unsigned long long)dump->torn);
}

static void write_frame(FILE *file, const struct profile *profile, const struct frame *frame)
{
    fputs("{\"function\":", file);
    json_string(file, profile_text(profile, frame->symbol));
    if (frame->file) {
        write_text(file, profile, "file", frame->file);
        fprintf(file, ",\"line\":%u", frame->line);
    }
    putc('}', file);
}

static void write_stack(FILE *file, const struct profile *profile, stack_id stack)
{
    const char *comma = "";

    putc('[', file);
    for (; stack; stack = profile_get_stack(profile, stack)->parent) {
        fputs(comma, file);
        write_frame(file, profile,
                    profile_get_frame(profile, profile_get_stack(profile, stack)->frame));
        comma = ",";
    }
    putc(']', file);
}

/* Write each stack of a process once. index[stack] gets its place in the array, from 1. */
static void write_stacks(FILE *file, const struct dump *dump, uint32_t *index)
{
    uint32_t count = 0;

    fputs(",\n\"stacks\":[", file);
    for (size_t i = 0; i < dump->count; i++) {
        stack_id stack = dump->processes[i].stack;

        if (!stack || index[stack])
            continue;
        index[stack] = ++count;
        fputs(count > 1 ? ",\n " : "\n ", file);
        write_stack(file, dump->profile, stack);
    }
    fputs("]", file);
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
static void write_metrics(FILE *file, const struct metrics *metrics)
{
    const char *comma = "";

    fputs(",\"metrics\":{", file);
    for (int i = 0; i < METRICS; i++) {
        if (!metrics_know(metrics, (enum metric)i))
            continue;
        fprintf(file, "%s\"%s\":%llu", comma, metric_name((enum metric)i),
                (unsigned long long)metrics->values[i]);
        comma = ",";
    }
    putc('}', file);
}

/* Write the process' application, the process that spawned it, and its ancestors, the nearest first
 * as in `$ancestors`. */
static void write_family(FILE *file, const struct profile *profile,
                         const struct process_entry *entry)
{
    string_id parent = entry->parent ? profile_get_process(profile, entry->parent)->pid : 0;
    const struct ancestor *ancestor;

    write_text(file, profile, "application", entry->application);
    write_text(file, profile, "parent", parent);
    fputs(",\"ancestors\":[", file);
    for (ancestor_id at = entry->ancestors; at; at = ancestor->up) {
        ancestor = profile_get_ancestor(profile, at);
        if (at != entry->ancestors)
            putc(',', file);
        json_string(file, profile_text(profile, ancestor->name));
    }
    putc(']', file);
}

static void write_process(FILE *file, const struct dump *dump, const struct dump_process *process,
                          const uint32_t *index)
{
    const struct profile *profile = dump->profile;
    const struct process_entry *entry = profile_get_process(profile, process->process);

    fputs("{\"pid\":", file);
    json_string(file, profile_text(profile, entry->pid));
    write_text(file, profile, "name", entry->name);
    write_text(file, profile, "label", entry->label);
    write_text(file, profile, "initial_call", entry->initial_call);
    write_family(file, profile, entry);
    write_text(file, profile, "current_function", current_function(profile, process->stack));
    fprintf(file, ",\"status\":\"%s\"", process_status_name((enum process_status)process->status));
    if (process->thread)
        write_text(file, profile, "thread", profile_get_thread(profile, process->thread)->name);
    write_metrics(file, &process->metrics);
    if (dump->has_growth)
        fprintf(file, ",\"growth\":{\"%s\":%lld}", metric_name(dump->grown),
                (long long)process->growth);
    fprintf(file, ",\"complete\":%s", process->flags & SAMPLE_COMPLETE ? "true" : "false");
    if (process->stack)
        fprintf(file, ",\"stack\":%u}", index[process->stack] - 1);
    else
        fputs(",\"stack\":null}", file);
}

void dump_write_json(FILE *file, const struct dump *dump)
{
    uint32_t *index = xcalloc(profile_counts(dump->profile).stacks + 1, sizeof(*index));

    write_target(file, dump);
    write_stacks(file, dump, index);
    fputs(",\n\"processes\":[", file);
    for (size_t i = 0; i < dump->count; i++) {
        fputs(i ? ",\n " : "\n ", file);
        write_process(file, dump, &dump->processes[i], index);
    }
    fputs("]}\n", file);
    free(index);
}
