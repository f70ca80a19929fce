// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "profile/string_table.h"
#include "util/alloc.h"
#include "util/intern.h"

struct profile {
    struct string_table strings;
    struct intern modules, frames, stacks, events, ancestors, processes, threads, targets,
        trace_spans;
    uint64_t stacks_max, bytes_max; /* profile_limit() */
    string_id left_out;             /* LEFT_OUT; 0: nothing was left out */
    frame_id left_out_frame;
    stack_id left_out_stack;
};

/* A full profile stores this text in place of new entries. */
#define LEFT_OUT "[left out: --max-memory]"

enum {
    /* An output takes up to some 220 bytes for each entry of the table of stacks, while it is
     * written (docs/measurements.md, "Memory of outputs"). */
    BYTES_OF_STACK = 256,
    TABLES_SHARE = 4, /* of the memory: a quarter is for all tables */
};

/* The size of a struct up to the end of `last`, its last field. These bytes are compared. */
#define KEY_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct profile *profile_new(void)
{
    struct profile *profile = xcalloc(1, sizeof(*profile));

    profile_limit(profile, UINT64_MAX);
    intern_init(&profile->modules, sizeof(struct module), KEY_SIZE(struct module, build_id));
    intern_init(&profile->frames, sizeof(struct frame), KEY_SIZE(struct frame, unresolved));
    intern_init(&profile->stacks, sizeof(struct stack_node), KEY_SIZE(struct stack_node, frame));
    intern_init(&profile->events, sizeof(struct event_entry), KEY_SIZE(struct event_entry, values));
    intern_init(&profile->ancestors, sizeof(struct ancestor), KEY_SIZE(struct ancestor, name));
    intern_init(&profile->processes, sizeof(struct process_entry),
                KEY_SIZE(struct process_entry, label_is_detail));
    intern_init(&profile->threads, sizeof(struct thread_entry),
                KEY_SIZE(struct thread_entry, scheduler_number));
    intern_init(&profile->targets, sizeof(struct target_entry),
                KEY_SIZE(struct target_entry, host));
    intern_init(&profile->trace_spans, sizeof(struct trace_span),
                KEY_SIZE(struct trace_span, span));
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    string_table_free(&profile->strings);
    intern_free(&profile->modules);
    intern_free(&profile->frames);
    intern_free(&profile->stacks);
    intern_free(&profile->events);
    intern_free(&profile->ancestors);
    intern_free(&profile->processes);
    intern_free(&profile->threads);
    intern_free(&profile->targets);
    intern_free(&profile->trace_spans);
    free(profile);
}

/* ---- limits ---- */

/* The most bytes that a table takes: its memory grows by doubling, and at least a third of the
 * slots of its index are in use. */
static uint64_t size_of_entries(uint64_t count, size_t entry_size)
{
    return count * (2 * entry_size + 3 * sizeof(struct id_slot));
}

static uint64_t size_of_table(const struct intern *table)
{
    return size_of_entries(table->count, table->entry_size);
}

uint64_t profile_size(const struct profile *profile)
{
    const struct string_table *strings = &profile->strings;

    return strings->size + size_of_entries(strings->count, sizeof(*strings->texts)) +
           size_of_table(&profile->modules) + size_of_table(&profile->frames) +
           size_of_table(&profile->stacks) + size_of_table(&profile->events) +
           size_of_table(&profile->ancestors) + size_of_table(&profile->processes) +
           size_of_table(&profile->threads) + size_of_table(&profile->targets) +
           size_of_table(&profile->trace_spans);
}

void profile_limit(struct profile *profile, uint64_t memory)
{
    profile->stacks_max = memory / BYTES_OF_STACK;
    profile->bytes_max = memory / TABLES_SHARE;
}

void profile_fill(struct profile *profile)
{
    profile->stacks_max = 0;
}

bool profile_is_full(const struct profile *profile)
{
    return profile->stacks.count >= profile->stacks_max ||
           profile_size(profile) >= profile->bytes_max;
}

/* Half as much again: nothing of a variable number is added any more. */
static bool is_overfull(const struct profile *profile)
{
    return profile_size(profile) / 3 >= profile->bytes_max / 2;
}

/* A full profile still takes leaves: a stack for each frame. */
bool profile_exceeds(const struct profile *profile, uint64_t memory)
{
    return profile->stacks.count > memory / BYTES_OF_STACK + profile->frames.count + 1 ||
           profile_size(profile) / 2 > memory / TABLES_SHARE;
}

/* Make the entries that stand for all that is left out. */
static void leave_out(struct profile *profile)
{
    struct frame frame = {.kind = FRAME_MARK};

    if (profile->left_out)
        return;
    profile->left_out = string_table_add(&profile->strings, LEFT_OUT, strlen(LEFT_OUT));
    frame.symbol = profile->left_out;
    profile->left_out_frame = intern_add(&profile->frames, &frame);
    profile->left_out_stack =
        intern_add(&profile->stacks, &(struct stack_node){0, profile->left_out_frame});
}

/* The stack of a leaf without its callers. */
static stack_id leaf_stack(struct profile *profile, frame_id leaf)
{
    leave_out(profile);
    if (leaf == profile->left_out_frame)
        return profile->left_out_stack;
    return intern_add(&profile->stacks, &(struct stack_node){profile->left_out_stack, leaf});
}

/* The process that stands for all others with this initial call. */
static process_id other_process(struct profile *profile, const struct process_entry *process)
{
    leave_out(profile);
    return intern_add(&profile->processes, &(struct process_entry){
                                               .target = process->target,
                                               .pid = profile->left_out,
                                               .initial_call = process->initial_call,
                                               .application = process->application,
                                           });
}

static bool is_left_out(const struct profile *profile, string_id text)
{
    return !strcmp(profile_text(profile, text), LEFT_OUT);
}

bool profile_process_is_left_out(const struct profile *profile, process_id id)
{
    return id && is_left_out(profile, profile_get_process(profile, id)->pid);
}

static bool is_left_out_frame(const struct profile *profile, frame_id id)
{
    const struct frame *frame = profile_get_frame(profile, id);

    return frame->kind == FRAME_MARK && is_left_out(profile, frame->symbol);
}

static bool lacks_callers(const struct profile *profile, stack_id id)
{
    const struct stack_node *node = id ? profile_get_stack(profile, id) : NULL;

    if (node && node->parent)
        node = profile_get_stack(profile, node->parent);
    return node && !node->parent && is_left_out_frame(profile, node->frame);
}

bool profile_has_left_out(const struct profile *profile, const struct sample *sample)
{
    return lacks_callers(profile, sample->stack) ||
           profile_process_is_left_out(profile, sample->process) ||
           profile_process_is_left_out(profile, sample->peer);
}

/* ---- entries ---- */

string_id profile_string(struct profile *profile, const char *text, size_t size)
{
    if (!is_overfull(profile))
        return string_table_add(&profile->strings, text, size);
    leave_out(profile);
    return string_table_find(&profile->strings, text, size, profile->left_out);
}

string_id profile_string_z(struct profile *profile, const char *text)
{
    return profile_string(profile, text, strlen(text));
}

module_id profile_module(struct profile *profile, const struct module *module)
{
    if (is_overfull(profile))
        return intern_find(&profile->modules, module);
    return intern_add(&profile->modules, module);
}

frame_id profile_frame(struct profile *profile, const struct frame *frame)
{
    frame_id found = intern_find(&profile->frames, frame);

    if (found || !is_overfull(profile))
        return found ? found : intern_add(&profile->frames, frame);
    leave_out(profile);
    return profile->left_out_frame;
}

stack_id profile_stack(struct profile *profile, stack_id parent, frame_id frame)
{
    const struct stack_node node = {parent, frame};
    stack_id found = intern_find(&profile->stacks, &node);

    if (found)
        return found;
    return profile_is_full(profile) ? leaf_stack(profile, frame)
                                    : intern_add(&profile->stacks, &node);
}

event_id profile_event(struct profile *profile, const struct event_entry *event)
{
    return intern_add(&profile->events, event);
}

ancestor_id profile_ancestor(struct profile *profile, ancestor_id up, string_id name)
{
    const struct ancestor ancestor = {up, name};

    if (is_overfull(profile))
        return intern_find(&profile->ancestors, &ancestor);
    return intern_add(&profile->ancestors, &ancestor);
}

process_id profile_process(struct profile *profile, const struct process_entry *process)
{
    process_id found = intern_find(&profile->processes, process);

    if (found)
        return found;
    return profile_is_full(profile) ? other_process(profile, process)
                                    : intern_add(&profile->processes, process);
}

thread_id profile_thread(struct profile *profile, const struct thread_entry *thread)
{
    return intern_add(&profile->threads, thread);
}

target_id profile_target(struct profile *profile, const struct target_entry *target)
{
    return intern_add(&profile->targets, target);
}

trace_span_id profile_trace_span(struct profile *profile, const struct trace_span *span)
{
    if (profile_is_full(profile))
        return intern_find(&profile->trace_spans, span);
    return intern_add(&profile->trace_spans, span);
}

const char *profile_text(const struct profile *profile, string_id id)
{
    return string_table_get(&profile->strings, id);
}

const struct module *profile_get_module(const struct profile *profile, module_id id)
{
    return intern_get(&profile->modules, id);
}

const char *profile_module_path(const struct profile *profile, module_id id)
{
    return id ? profile_text(profile, profile_get_module(profile, id)->path) : "";
}

const struct frame *profile_get_frame(const struct profile *profile, frame_id id)
{
    return intern_get(&profile->frames, id);
}

const struct stack_node *profile_get_stack(const struct profile *profile, stack_id id)
{
    return intern_get(&profile->stacks, id);
}

const struct event_entry *profile_get_event(const struct profile *profile, event_id id)
{
    return intern_get(&profile->events, id);
}

const struct ancestor *profile_get_ancestor(const struct profile *profile, ancestor_id id)
{
    return intern_get(&profile->ancestors, id);
}

const struct process_entry *profile_get_process(const struct profile *profile, process_id id)
{
    return intern_get(&profile->processes, id);
}

const struct thread_entry *profile_get_thread(const struct profile *profile, thread_id id)
{
    return intern_get(&profile->threads, id);
}

const struct target_entry *profile_get_target(const struct profile *profile, target_id id)
{
    return intern_get(&profile->targets, id);
}

const struct trace_span *profile_get_trace_span(const struct profile *profile, trace_span_id id)
{
    return intern_get(&profile->trace_spans, id);
}

/* A parent has a lower id than its child. */
stack_id profile_common_stack(const struct profile *profile, stack_id one, stack_id other)
{
    while (one != other) {
        stack_id *deeper = one > other ? &one : &other;

        *deeper = profile_get_stack(profile, *deeper)->parent;
    }
    return one;
}

struct profile_counts profile_counts(const struct profile *profile)
{
    return (struct profile_counts){
        .strings = profile->strings.count,
        .modules = profile->modules.count,
        .frames = profile->frames.count,
        .stacks = profile->stacks.count,
        .events = profile->events.count,
        .ancestors = profile->ancestors.count,
        .processes = profile->processes.count,
        .threads = profile->threads.count,
        .targets = profile->targets.count,
        .trace_spans = profile->trace_spans.count,
    };
}

/* Names of the enums of profile.h, as they appear in outputs. */

/* The VM's names (erts_process_state2status(), erl_process.c 27.3.4.1:9205). STATUS_NONE,
 * STATUS_IDLE and STATUS_BLOCKED are this program's own. */
static const char *const status_names[] = {
    [STATUS_NONE] = "none",
    [STATUS_RUNNING] = "running",
    [STATUS_RUNNABLE] = "runnable",
    [STATUS_WAITING] = "waiting",
    [STATUS_SUSPENDED] = "suspended",
    [STATUS_EXITING] = "exiting",
    [STATUS_GARBAGE_COLLECTING] = "garbage_collecting",
    [STATUS_FREE] = "free",
    [STATUS_IDLE] = "idle",
    [STATUS_BLOCKED] = "blocked",
};
_Static_assert(sizeof(status_names) / sizeof(status_names[0]) == STATUS_COUNT, "one name each");

static const char *const activity_names[] = {
    [ACTIVITY_PROCESS] = "process",     [ACTIVITY_SCHEDULING] = "scheduling",
    [ACTIVITY_BUSY_WAIT] = "busy-wait", [ACTIVITY_SLEEP] = "sleep",
    [ACTIVITY_CHECK_IO] = "check-io",   [ACTIVITY_PORT] = "port",
    [ACTIVITY_AUX_WORK] = "aux",        [ACTIVITY_ASYNC] = "async",
    [ACTIVITY_POLL] = "poll",           [ACTIVITY_OTHER] = "other",
};
_Static_assert(sizeof(activity_names) / sizeof(activity_names[0]) == ACTIVITY_COUNT,
               "one name each");

static const char *const unit_names[] = {
    [UNIT_COUNT] = "count",
    [UNIT_NS] = "ns",
    [UNIT_WORDS] = "words",
    [UNIT_BYTES] = "bytes",
};
_Static_assert(sizeof(unit_names) / sizeof(unit_names[0]) == UNIT_END, "one name each");

static const struct {
    const char *name;     /* key in JSON */
    const char *sentence; /* after a count, as in "12 samples ..." */
} losses[] = {
    [LOSS_RING_FULL] = {"ring_full", "samples dropped because the ring buffer was full"},
    [LOSS_BAD_SAMPLE] = {"bad_sample", "samples dropped because their bytes are damaged"},
    [LOSS_STACK_INCOMPLETE] = {"stack_incomplete",
                               "Erlang stacks that do not reach the first function of the process"},
    [LOSS_STACK_TRUNCATED] = {"stack_truncated",
                              "stacks too deep to copy, whose middle is left out"},
    [LOSS_STACK_POINTER] = {"stack_pointer",
                            "samples whose exact Erlang stack pointer was not known"},
    [LOSS_NATIVE_UNWIND] = {"native_unwind",
                            "stacks whose native part could not be unwound to its end"},
    [LOSS_UNKNOWN_ERLANG] = {"unknown_erlang", "Erlang frames without a name for their address"},
    [LOSS_UNKNOWN_NATIVE] = {"unknown_native",
                             "native frames without a symbol, shown as file and offset"},
    [LOSS_KERNEL_STACK] = {"kernel_stack", "kernel stacks that were cut or not available"},
    [LOSS_OUT_OF_ORDER] = {"out_of_order", "samples whose time was changed to keep the order"},
    [LOSS_KERNEL_ENTRY] = {"kernel_entry",
                           "samples that hit the entry to the kernel, without a stack"},
    [LOSS_CLOCK_STOPPED] = {"clock_stopped",
                            "stop of CPU sampling, because its clock interrupted too often"},
    [LOSS_THREAD_TIMES] = {"thread_times",
                           "threads whose times were left out, because others ran longer"},
    [LOSS_MEMORY] = {"memory", "samples without callers or process, because --max-memory was "
                               "reached"},
    [LOSS_METRICS] =
        {"node_metrics",
         "readings of tables and ports left out, because there were too many of these"},
    [LOSS_READ_FAULT] = {"read_fault",
                         "samples without a part of their memory, which could not be read"},
    [LOSS_SWEEPS] = {"sweeps", "sweeps of event wall missed, because beamflame waited for another "
                               "process or for a CPU"},
    [LOSS_TRACE] = {"trace",
                    "samples whose trace could not be read, most of them in garbage collections"},
};
_Static_assert(sizeof(losses) / sizeof(losses[0]) == LOSS_COUNT, "one name each");

const char *profile_status_name(enum process_status status)
{
    return status < STATUS_COUNT ? status_names[status] : "unknown";
}

bool profile_status_waits(enum process_status status)
{
    return status == STATUS_WAITING || status == STATUS_IDLE || status == STATUS_BLOCKED;
}

const char *profile_activity_name(enum activity activity)
{
    return activity < ACTIVITY_COUNT ? activity_names[activity] : "unknown";
}

const char *profile_unit_name(enum unit unit)
{
    return unit >= UNIT_COUNT && unit < UNIT_END ? unit_names[unit] : "unknown";
}

const char *profile_loss_name(enum loss loss)
{
    return loss < LOSS_COUNT ? losses[loss].name : "unknown";
}

const char *profile_loss_sentence(enum loss loss)
{
    return loss < LOSS_COUNT ? losses[loss].sentence : "losses of an unknown kind";
}
