// SPDX-License-Identifier: Apache-2.0
#include "output/json/json.h"

#include <stdlib.h>

#include "profile/trace_text.h"
#include "util/alloc.h"

void json_trace_span(struct json *json, const struct profile *profile, trace_span_id id)
{
    char trace[TRACE_ID_TEXT], span[SPAN_ID_TEXT];

    if (!id)
        return;
    trace_id_text(profile_get_trace_span(profile, id), trace);
    span_id_text(profile_get_trace_span(profile, id), span);
    json_text(json, "trace_id", trace);
    json_text(json, "span_id", span);
}

void json_entries_free(struct json_entries *entries)
{
    free(entries->targets.of);
    free(entries->processes.of);
    free(entries->threads.of);
    free(entries->modules.of);
    free(entries->frames.of);
    free(entries->stacks.of);
    free(entries->path);
}

static bool is_written(const struct json_written *written, uint32_t id)
{
    return !id || (id < written->room && written->of[id]);
}

/* True if the entry is not written yet. Marks it as written. */
static bool must_write(struct json_written *written, uint32_t id)
{
    if (is_written(written, id))
        return false;
    written->of = xgrow(written->of, &written->room, id, sizeof(*written->of));
    written->of[id] = true;
    return true;
}

static void put_string(struct json *json, const char *key, const struct profile *profile,
                       string_id id)
{
    if (id)
        json_text(json, key, profile_text(profile, id));
}

static struct json open_entry(const struct json_entries *entries, const char *type, uint32_t id)
{
    struct json json = json_line_open(entries->file, type);

    json_number(&json, "id", id);
    return json;
}

void json_entries_event(const struct json_entries *entries, event_id id)
{
    const struct event_entry *event = profile_get_event(entries->profile, id);
    struct json json = open_entry(entries, "event", id);

    put_string(&json, "name", entries->profile, event->name);
    json_open(&json, "units", '{');
    for (uint32_t i = 0; i < event->value_count; i++)
        json_text(&json, profile_text(entries->profile, event->values[i].name),
                  profile_unit_name(event->values[i].unit));
    json_close(&json, '}');
    json_line_close(&json);
}

void json_entries_target(struct json_entries *entries, target_id id)
{
    const struct profile *profile = entries->profile;
    const struct target_entry *target;
    struct json json;

    if (!must_write(&entries->targets, id))
        return;
    target = profile_get_target(profile, id);
    json = open_entry(entries, "target", id);
    json_number(&json, "pid", target->pid);
    put_string(&json, "node", profile, target->node);
    put_string(&json, "otp_release", profile, target->otp_release);
    put_string(&json, "erts", profile, target->erts);
    put_string(&json, "flavor", profile, target->flavor);
    json_number(&json, "schedulers", target->schedulers);
    json_number(&json, "dirty_cpu_schedulers", target->dirty_cpu_schedulers);
    json_number(&json, "dirty_io_schedulers", target->dirty_io_schedulers);
    json_number(&json, "processes", target->processes);
    put_string(&json, "executable", profile, target->executable);
    put_string(&json, "container", profile, target->container);
    put_string(&json, "layout", profile, target->layout);
    json_line_close(&json);
}

static void put_ancestors(struct json *json, const struct profile *profile, ancestor_id nearest)
{
    if (!nearest)
        return;
    json_open(json, "ancestors", '[');
    for (ancestor_id at = nearest; at; at = profile_get_ancestor(profile, at)->up)
        json_text(json, NULL, profile_text(profile, profile_get_ancestor(profile, at)->name));
    json_close(json, ']');
}

void json_entries_process(struct json_entries *entries, process_id id)
{
    const struct profile *profile = entries->profile;
    const struct process_entry *process;
    struct json json;

    if (!must_write(&entries->processes, id))
        return;
    process = profile_get_process(profile, id);
    json_entries_target(entries, process->target);
    json = open_entry(entries, "process", id);
    json_number_if(&json, "target", process->target);
    put_string(&json, "pid", profile, process->pid);
    put_string(&json, "name", profile, process->name);
    put_string(&json, "label", profile, process->label);
    put_string(&json, "initial_call", profile, process->initial_call);
    put_string(&json, "application", profile, process->application);
    if (process->parent)
        put_string(&json, "parent", profile, profile_get_process(profile, process->parent)->pid);
    put_ancestors(&json, profile, process->ancestors);
    json_line_close(&json);
}

void json_entries_thread(struct json_entries *entries, thread_id id)
{
    static const char *const kinds[] = {
        [SCHEDULER_NORMAL] = "normal",
        [SCHEDULER_DIRTY_CPU] = "dirty_cpu",
        [SCHEDULER_DIRTY_IO] = "dirty_io",
    };
    const struct thread_entry *thread;
    struct json json;

    if (!must_write(&entries->threads, id))
        return;
    thread = profile_get_thread(entries->profile, id);
    json_entries_target(entries, thread->target);
    json = open_entry(entries, "thread", id);
    json_number_if(&json, "target", thread->target);
    json_number(&json, "tid", thread->tid);
    put_string(&json, "name", entries->profile, thread->name);
    if (thread->scheduler_kind) {
        json_text(&json, "scheduler", kinds[thread->scheduler_kind]);
        json_number(&json, "number", thread->scheduler_number);
    }
    json_line_close(&json);
}

static void write_module(struct json_entries *entries, module_id id)
{
    const struct module *module;
    struct json json;

    if (!must_write(&entries->modules, id))
        return;
    module = profile_get_module(entries->profile, id);
    json = open_entry(entries, "module", id);
    put_string(&json, "path", entries->profile, module->path);
    put_string(&json, "build_id", entries->profile, module->build_id);
    json_line_close(&json);
}

static void write_frame(struct json_entries *entries, frame_id id)
{
    static const char *const kinds[] = {
        [FRAME_ERLANG] = "erlang", [FRAME_BIF] = "bif",       [FRAME_RUNTIME] = "runtime",
        [FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel", [FRAME_MARK] = "mark",
    };
    const struct frame *frame;
    struct json json;
    char address[24];

    if (!must_write(&entries->frames, id))
        return;
    frame = profile_get_frame(entries->profile, id);
    write_module(entries, frame->module);
    json = open_entry(entries, "frame", id);
    put_string(&json, "symbol", entries->profile, frame->symbol);
    json_text(&json, "kind", kinds[frame->kind]);
    json_number_if(&json, "module", frame->module);
    put_string(&json, "file", entries->profile, frame->file);
    json_number_if(&json, "line", frame->line);
    if (frame->address) {
        snprintf(address, sizeof(address), "0x%llx", (unsigned long long)frame->address);
        json_text(&json, "address", address);
    }
    if (frame->unresolved)
        json_bool(&json, "unresolved", true);
    json_line_close(&json);
}

/* Write nodes from the root on, because each refers to its parent. */
static void write_stack(struct json_entries *entries, stack_id id)
{
    size_t count = 0;

    for (; must_write(&entries->stacks, id); id = profile_get_stack(entries->profile, id)->parent) {
        entries->path = xgrow(entries->path, &entries->path_room, count, sizeof(*entries->path));
        entries->path[count++] = id;
    }
    while (count) {
        const struct stack_node *node = profile_get_stack(entries->profile, entries->path[--count]);
        struct json json;

        write_frame(entries, node->frame);
        json = open_entry(entries, "stack", entries->path[count]);
        json_number_if(&json, "parent", node->parent);
        json_number(&json, "frame", node->frame);
        json_line_close(&json);
    }
}

void json_entries_sample(struct json_entries *entries, const struct sample *sample)
{
    json_entries_process(entries, sample->process);
    json_entries_process(entries, sample->peer);
    json_entries_thread(entries, sample->thread);
    write_stack(entries, sample->stack);
}
