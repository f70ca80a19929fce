// SPDX-License-Identifier: Apache-2.0
#include "view/root_frame.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* A process started with a fun has this initial call (erlang:spawn/1 is apply/2 of the fun). */
#define INITIAL_CALL_OF_FUN "erlang:apply/2"

/* True if only the function at the root of its stack can name a process. */
static bool is_named_by_stack(const struct profile *profile, process_id id)
{
    const struct process_entry *process = profile_get_process(profile, id);

    if (process_entry_name(process))
        return false;
    return !process->initial_call ||
           !strcmp(profile_text(profile, process->initial_call), INITIAL_CALL_OF_FUN);
}

static bool shows_thread(const struct sample *sample)
{
    return sample->activity == ACTIVITY_ASYNC || sample->activity == ACTIVITY_POLL ||
           sample->activity == ACTIVITY_OTHER;
}

/* True if the key describes a process. If no process ran, the activity of the thread replaces it.
 */
static bool is_of_processes(enum group_by group_by)
{
    return group_by != GROUP_SCHEDULER && group_by != GROUP_NODE && group_by != GROUP_CHANGE;
}

static target_id target_of_sample(const struct profile *profile, const struct sample *sample)
{
    if (sample->process)
        return profile_get_process(profile, sample->process)->target;
    return sample->thread ? profile_get_thread(profile, sample->thread)->target : 0;
}

static void add_activity(struct root_key *key, const struct sample *sample)
{
    key->activity = sample->activity;
    key->detail = sample->detail;
    if (shows_thread(sample))
        key->thread = sample->thread;
}

static uint8_t power_of_ten(const struct metrics *metrics, enum metric metric)
{
    uint8_t power = 1;

    if (!metrics_know(metrics, metric))
        return 0;
    for (uint64_t rest = metrics->values[metric]; rest; rest /= 10)
        power++;
    return power;
}

/* Set the fields that one key of a grouping shows. */
static void add_to_key(struct root_key *key, const struct profile *profile, enum group_by group_by,
                       const struct sample *sample, frame_id bottom)
{
    if (group_by == GROUP_CHANGE) {
        key->change = sample->flags & (SAMPLE_GROWTH | SAMPLE_RELEASE);
    } else if (group_by == GROUP_SCHEDULER) {
        key->thread = sample->thread;
    } else if (!is_of_processes(group_by)) {
        return;
    } else if (!sample->process && sample->activity != ACTIVITY_PROCESS) {
        add_activity(key, sample);
    } else if (group_by == GROUP_STATUS) {
        key->status = sample->status;
    } else if (group_by == GROUP_MEMORY) {
        key->memory = power_of_ten(&sample->metrics, METRIC_MEMORY);
    } else if (group_by == GROUP_MSGQ) {
        key->msgq = power_of_ten(&sample->metrics, METRIC_MSGQ);
    } else if (group_by != GROUP_NONE && sample->process) {
        key->process = sample->process;
        if (group_by == GROUP_NAME && (sample->flags & SAMPLE_COMPLETE) &&
            is_named_by_stack(profile, sample->process))
            key->bottom = bottom;
    }
}

struct root_key root_key_of_sample(const struct profile *profile, const struct grouping *grouping,
                                   const struct sample *sample, frame_id bottom)
{
    struct root_key key = {.target = target_of_sample(profile, sample),
                           .named = (sample->flags & SAMPLE_NAMED) != 0};
    const enum group_by *at = grouping->keys;

    do
        add_to_key(&key, profile, *at, sample, bottom);
    while (*at && *++at);
    return key;
}

frame_id root_frame_bottom(const struct profile *profile, stack_id stack)
{
    frame_id bottom = 0;

    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);

        if (profile_get_frame(profile, node->frame)->kind == FRAME_ERLANG)
            bottom = node->frame;
        stack = node->parent;
    }
    return bottom;
}

struct root_key root_key_of_process(const struct profile *profile, process_id process,
                                    stack_id stack)
{
    struct root_key key = {
        .target = profile_get_process(profile, process)->target,
        .process = process,
    };

    if (stack && is_named_by_stack(profile, process))
        key.bottom = root_frame_bottom(profile, stack);
    return key;
}

static void activity_text(const struct profile *profile, const struct root_key *key,
                          struct buffer *text)
{
    switch (key->activity) {
    case ACTIVITY_PORT:
        buffer_text(text, "[port]");
        if (key->detail)
            buffer_format(text, " %s", profile_text(profile, key->detail));
        break;
    case ACTIVITY_AUX_WORK:
        buffer_text(text, "[aux]");
        break;
    case ACTIVITY_ASYNC:
    case ACTIVITY_POLL:
    case ACTIVITY_OTHER:
        buffer_text(text, "[thread]");
        if (key->thread)
            buffer_format(text, " %s",
                          profile_text(profile, profile_get_thread(profile, key->thread)->name));
        break;
    default:
        buffer_format(text, "[scheduler] %s", profile_activity_name(key->activity));
    }
}

static void name_text(const struct profile *profile, const struct process_entry *process,
                      frame_id bottom, struct buffer *text)
{
    string_id best = process_entry_name(process);

    if (!best && bottom)
        best = profile_get_frame(profile, bottom)->symbol;
    if (!best)
        best = process->initial_call ? process->initial_call : process->pid;
    buffer_text(text, best ? profile_text(profile, best) : "[process]");
}

/* Registered name or any label; 0 if it has neither. */
static string_id own_name(const struct process_entry *process)
{
    return process->name ? process->name : process->label;
}

static void pid_text(const struct profile *profile, const struct process_entry *process,
                     struct buffer *text)
{
    string_id name = own_name(process);

    if (name)
        buffer_format(text, "%s ", profile_text(profile, name));
    buffer_text(text, process->pid ? profile_text(profile, process->pid) : "[process]");
}

static void scheduler_text(const struct profile *profile, const struct root_key *key,
                           struct buffer *text)
{
    static const char *const kinds[] = {
        [SCHEDULER_NORMAL] = "scheduler",
        [SCHEDULER_DIRTY_CPU] = "dirty cpu",
        [SCHEDULER_DIRTY_IO] = "dirty io",
    };
    const struct thread_entry *thread =
        key->thread ? profile_get_thread(profile, key->thread) : NULL;

    if (thread && thread->scheduler_kind != SCHEDULER_NONE)
        buffer_format(text, "[%s %u]", kinds[thread->scheduler_kind], thread->scheduler_number);
    else if (thread && thread->name)
        buffer_format(text, "[thread] %s", profile_text(profile, thread->name));
    else
        buffer_text(text, "[thread]");
}

/* Append 10 to the power of `power`, as "100" or "100 MB". */
static void put_power(int power, bool is_bytes, struct buffer *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    int thousands = is_bytes ? power / 3 : 0;

    buffer_byte(text, '1');
    for (int i = thousands * 3; i < power; i++)
        buffer_byte(text, '0');
    if (is_bytes)
        buffer_format(text, " %s", units[thousands]);
}

/* Append "[msgq 0]", "[msgq 10 to 100]", "[memory 1 MB to 10 MB]". The upper bound is exclusive. */
static void decade_text(const char *what, uint8_t decade, bool is_bytes, struct buffer *text)
{
    buffer_format(text, "[%s ", what);
    if (decade == 0) {
        buffer_text(text, "not known");
    } else if (decade == 1) {
        buffer_text(text, "0");
    } else {
        put_power(decade - 2, is_bytes, text);
        buffer_text(text, " to ");
        put_power(decade - 1, is_bytes, text);
    }
    buffer_byte(text, ']');
}

/* Append a text of the process, or "[no WHAT]" if it has none. */
static void put_or_none(const struct profile *profile, string_id id, const char *what,
                        struct buffer *text)
{
    if (id)
        buffer_text(text, profile_text(profile, id));
    else
        buffer_format(text, "[no %s]", what);
}

static void text_of_process(const struct profile *profile, enum group_by group_by,
                            const struct root_key *key, struct buffer *text)
{
    const struct process_entry *process = profile_get_process(profile, key->process);

    switch (group_by) {
    case GROUP_PID:
        pid_text(profile, process, text);
        break;
    case GROUP_INITIAL_CALL:
        put_or_none(profile, process->initial_call, "initial call", text);
        break;
    case GROUP_APPLICATION:
        put_or_none(profile, process->application, "application", text);
        break;
    case GROUP_ANCESTORS: /* root_texts() passes existing ones */
        buffer_text(text, "[no ancestors]");
        break;
    case GROUP_LABEL:
        put_or_none(profile, process->label, "label", text);
        break;
    default:
        name_text(profile, process, key->bottom, text);
    }
}

static void change_text(const struct root_key *key, struct buffer *text)
{
    if (key->change & SAMPLE_GROWTH)
        buffer_text(text, ROOT_GROWTH);
    else if (key->change & SAMPLE_RELEASE)
        buffer_text(text, ROOT_RELEASE);
}

void root_text(const struct profile *profile, enum group_by group_by, const struct root_key *key,
               struct buffer *text)
{
    if (group_by == GROUP_CHANGE)
        change_text(key, text);
    else if (group_by == GROUP_SCHEDULER)
        scheduler_text(profile, key, text);
    else if (group_by == GROUP_NODE && key->target)
        root_target_text(profile, key->target, text);
    else if (group_by == GROUP_NODE)
        buffer_text(text, "[no node]");
    else if (key->activity != ACTIVITY_PROCESS)
        activity_text(profile, key, text);
    else if (group_by == GROUP_STATUS)
        buffer_format(text, "[%s]", profile_status_name(key->status));
    else if (group_by == GROUP_MEMORY)
        decade_text("memory", key->memory, true, text);
    else if (group_by == GROUP_MSGQ)
        decade_text("msgq", key->msgq, false, text);
    else if (group_by == GROUP_NONE || (key->named && (group_by == GROUP_NAME || !key->process)))
        return;
    else if (!key->process)
        buffer_text(text, "[process]");
    else
        text_of_process(profile, group_by, key, text);
}

/* Pass a chain of ancestors as frames to `each`, root first. */
static void ancestor_texts(const struct profile *profile, ancestor_id nearest, root_each each,
                           void *context)
{
    struct buffer text = {0};
    ancestor_id *chain;
    size_t count = 0;

    for (ancestor_id at = nearest; at; at = profile_get_ancestor(profile, at)->up)
        count++;
    chain = xcalloc(count, sizeof(*chain));
    for (ancestor_id at = nearest; at; at = profile_get_ancestor(profile, at)->up)
        chain[--count] = at;
    for (bool more = true; more; count++) {
        text.size = 0;
        buffer_text(&text,
                    profile_text(profile, profile_get_ancestor(profile, chain[count])->name));
        each(context, &text);
        more = chain[count] != nearest;
    }
    free(chain);
    buffer_free(&text);
}

void root_texts(const struct profile *profile, const struct grouping *grouping,
                const struct root_key *key, root_each each, void *context)
{
    const enum group_by *at = grouping->keys;
    bool is_passed = false; /* the activity was passed */
    ancestor_id nearest;
    struct buffer text = {0};

    do {
        if (key->activity != ACTIVITY_PROCESS && is_of_processes(*at)) {
            if (is_passed)
                continue;
            is_passed = true;
        }
        nearest = *at == GROUP_ANCESTORS && key->process
                      ? profile_get_process(profile, key->process)->ancestors
                      : 0;
        if (nearest) {
            ancestor_texts(profile, nearest, each, context);
            continue;
        }
        text.size = 0;
        root_text(profile, *at, key, &text);
        if (text.size)
            each(context, &text);
    } while (*at && *++at);
    buffer_free(&text);
}

/* True if another target has the same node name, which is possible in different containers. */
static bool another_has_name(const struct profile *profile, target_id id)
{
    string_id node = profile_get_target(profile, id)->node;

    for (target_id other = profile_counts(profile).targets; other; other--)
        if (other != id && profile_get_target(profile, other)->node == node)
            return true;
    return false;
}

void root_target_text(const struct profile *profile, target_id id, struct buffer *text)
{
    const struct target_entry *target = profile_get_target(profile, id);
    const char *node = profile_text(profile, target->node);
    /* A node that is not distributed has no name of its own. */
    bool is_named = *node && strcmp(node, "nonode@nohost") != 0;

    buffer_text(text, is_named ? node : "beam");
    if (is_named && !another_has_name(profile, id))
        return;
    buffer_format(text, " %u", target->pid);
    if (target->host)
        buffer_format(text, " at %s", profile_text(profile, target->host));
}

void root_process_text(const struct profile *profile, const struct root_key *key,
                       struct buffer *text)
{
    string_id name = own_name(profile_get_process(profile, key->process));

    if (name)
        buffer_text(text, profile_text(profile, name));
    else
        root_text(profile, GROUP_NAME, key, text);
}
