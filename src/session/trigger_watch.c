// SPDX-License-Identifier: Apache-2.0
#include "session/trigger_watch.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_metrics.h"
#include "beam/process_sweep.h"
#include "os/process.h"
#include "output/summary/summary_text.h"
#include "profile/microstates.h"
#include "session/node_name.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/optional_text.h"
#include "view/selection.h"

static const uint64_t LOOK_NS = 1000000000;
static const uint64_t SAMPLES_NS = 10000000000; /* after this, too few samples are a share of 0 */

enum {
    SWEEP_REST = 50,    /* of a session that only waits for triggers: 2 % of a CPU */
    SAMPLES_LEAST = 50, /* needed to compute a share */
};

/* The result of a check for a trigger. */
struct found {
    bool known;
    double value;
    uint64_t process; /* pid term of the process with the most; 0: none */
};

struct watched_condition {
    const struct trigger *trigger;
    bool armed; /* it may fire: it has not since its condition began to hold */
    struct found found;
};

struct trigger_watch {
    struct vm *vm;
    struct symbolizer *symbolizer;
    struct watched_condition *conditions;
    size_t count;
    struct process_sweep *sweep; /* NULL: no trigger needs one */
    const struct profile *profile;
    uint64_t sweep_rest; /* as in struct trigger_look */
    uint64_t now, looked, next_sweep;
    uint64_t cpu_ns;      /* of the VM at the last check */
    uint64_t samples, gc; /* CPU samples since `counted`, and those in garbage collections */
    uint64_t counted;
};

static bool any_on_processes(const struct trigger_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->conditions[i].trigger->kind == TRIGGER_PROCESS)
            return true;
    return false;
}

static bool is_for(const struct trigger *trigger, struct vm *vm)
{
    char node[600];

    if (!trigger->nodes)
        return true;
    node_name_now(vm, node, sizeof(node));
    return targets_find_rule(trigger->nodes, 1, vm, node) == 0;
}

static struct trigger_watch *trigger_watch_new(const struct target *target,
                                               const struct trigger *triggers, size_t count,
                                               struct error *error)
{
    struct vm *vm = target->vm;
    struct trigger_watch *watch = xcalloc(1, sizeof(*watch));

    watch->vm = vm;
    watch->symbolizer = target->symbolizer;
    watch->conditions = xcalloc(count, sizeof(*watch->conditions));
    for (size_t i = 0; i < count; i++)
        if (is_for(&triggers[i], vm))
            watch->conditions[watch->count++] =
                (struct watched_condition){.trigger = &triggers[i], .armed = true};
    watch->looked = watch->counted = clock_ns(CLOCK_MONOTONIC);
    process_cpu_time(vm->pid, &watch->cpu_ns);
    if (any_on_processes(watch) &&
        !(watch->sweep = process_sweep_new(vm, target->sweep_room, error))) {
        trigger_watch_free(watch);
        return NULL;
    }
    return watch;
}

void trigger_watch_free(struct trigger_watch *watch)
{
    if (!watch)
        return;
    process_sweep_free(watch->sweep);
    free(watch->conditions);
    free(watch);
}

void trigger_watch_cpu_sample(struct trigger_watch *watch, const struct sample *sample)
{
    watch->samples++;
    watch->gc += microstate_is_gc((enum microstate)sample->microstate);
}

/* ---- processes ---- */

static bool is_called(struct trigger_watch *watch, uint64_t id, const char *who)
{
    process_id process = symbolizer_process(watch->symbolizer, id, watch->now);

    return process && selection_is_process(watch->profile, process, who);
}

/* Visit a process. Names are resolved only for processes above the limit. */
static void visit(void *context, const struct swept_process *swept)
{
    struct trigger_watch *watch = context;
    uint64_t id = swept_process_id(watch->vm, swept);
    struct metrics metrics = {0};

    process_metrics_read(watch->vm, swept->bytes, NULL, &metrics);
    for (size_t i = 0; i < watch->count; i++) {
        const struct trigger *trigger = watch->conditions[i].trigger;
        struct found *found = &watch->conditions[i].found;
        double value;

        if (trigger->kind != TRIGGER_PROCESS || !metrics_know(&metrics, trigger->metric))
            continue;
        value = (double)metrics.values[trigger->metric];
        if (value <= trigger->limit || value <= found->value)
            continue;
        if (trigger->process && !is_called(watch, id, trigger->process))
            continue;
        *found = (struct found){.known = true, .value = value, .process = id};
    }
}

static void look_at_processes(struct trigger_watch *watch)
{
    struct sweep_counts ignored = {0};
    struct error gone; /* a VM that has ended */
    uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (!watch->sweep || watch->now < watch->next_sweep ||
        process_sweep_run(watch->sweep, &(struct sweep_request){.visit = visit, .context = watch},
                          &ignored, &gone))
        return;
    for (size_t i = 0; i < watch->count; i++)
        if (watch->conditions[i].trigger->kind == TRIGGER_PROCESS)
            watch->conditions[i].found.known = true;
    /* Not the time that passed: on a busy machine a sweep waits for a CPU, which costs nothing. */
    used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
    watch->next_sweep = clock_ns(CLOCK_MONOTONIC) + used * watch->sweep_rest;
}

/* ---- the node ---- */

/* CPU time since the last check, in percent of the time of the normal schedulers. */
static struct found cpu_share(struct trigger_watch *watch)
{
    uint64_t cpu_ns, before = watch->cpu_ns, schedulers = watch->vm->scheduler_counts[0];

    if (!process_cpu_time(watch->vm->pid, &cpu_ns) || cpu_ns < before)
        return (struct found){.known = false};
    watch->cpu_ns = cpu_ns;
    return (struct found){
        .known = true,
        .value = 100 * (double)(cpu_ns - before) /
                 ((double)(watch->now - watch->looked) * (double)schedulers),
    };
}

/* The percentage of samples in garbage collections. With too few samples in SAMPLES_NS it is 0: the
 * node does almost nothing. */
static struct found gc_share(struct trigger_watch *watch)
{
    bool enough = watch->samples >= SAMPLES_LEAST;
    bool known = enough || watch->now - watch->counted >= SAMPLES_NS;
    double value = enough ? 100 * (double)watch->gc / (double)watch->samples : 0;

    if (known) {
        watch->samples = watch->gc = 0;
        watch->counted = watch->now;
    }
    return (struct found){.known = known, .value = value};
}

static void look_at_node(struct trigger_watch *watch, struct watched_condition *condition)
{
    struct found *found = &condition->found;
    int64_t length;
    uint64_t bytes;

    switch (condition->trigger->kind) {
    case TRIGGER_CPU:
        *found = cpu_share(watch);
        return;
    case TRIGGER_GC:
        *found = gc_share(watch);
        return;
    case TRIGGER_MEMORY:
        found->known = process_resident_bytes(watch->vm->pid, &bytes);
        found->value = found->known ? (double)bytes : 0;
        return;
    case TRIGGER_RUNQ:
        length = vm_run_queue_length(watch->vm);
        *found = (struct found){.known = length >= 0, .value = (double)length};
        return;
    case TRIGGER_PROCESS:
    case TRIGGER_EXIT:
        return;
    }
}

static void say_value(const struct trigger_watch *watch, const struct watched_condition *condition)
{
    if (condition->found.known)
        log_detail("triggers", "process %d: %s: %.1f%s", watch->vm->pid, condition->trigger->text,
                   condition->found.value, condition->armed ? "" : ", fired and not below since");
    else if (condition->trigger->kind != TRIGGER_EXIT)
        log_detail("triggers", "process %d: %s: not known this second", watch->vm->pid,
                   condition->trigger->text);
}

static void look_at_all(struct trigger_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        watch->conditions[i].found = (struct found){.known = false};
    look_at_processes(watch);
    for (size_t i = 0; i < watch->count; i++)
        look_at_node(watch, &watch->conditions[i]);
    watch->looked = watch->now;
    for (size_t i = 0; i < watch->count; i++)
        say_value(watch, &watch->conditions[i]);
}

/* ---- what fires ---- */

/* Append "msgq>1000: 1532, <0.85.0> cart". */
static void describe(struct trigger_watch *watch, const struct watched_condition *condition,
                     struct buffer *text)
{
    const struct trigger *trigger = condition->trigger;
    double value = condition->found.value;

    buffer_format(text, "%s: ", trigger->text);
    switch (trigger->kind) {
    case TRIGGER_CPU:
    case TRIGGER_GC:
        buffer_format(text, "%.0f %%", value);
        break;
    case TRIGGER_MEMORY:
        buffer_format(text, "%.1f MB", value / (1 << 20));
        break;
    default:
        buffer_format(text, "%.0f", value);
    }
    if (condition->found.process) {
        process_id id = symbolizer_process(watch->symbolizer, condition->found.process, watch->now);

        if (!id)
            return;
        buffer_text(text, ", ");
        summary_text_of_process(watch->profile, id, text);
    }
}

/* Update all conditions with what was found. Return the first one that fires, or NULL. */
static const struct watched_condition *fire(struct trigger_watch *watch,
                                            const struct trigger_look *look)
{
    const struct watched_condition *fires = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched_condition *condition = &watch->conditions[i];
        bool holds = condition->found.value > condition->trigger->limit;

        if (!condition->found.known)
            continue;
        if (!holds) {
            condition->armed = true;
        } else if (condition->armed && !fires &&
                   look->may_fire(look->context, condition->trigger)) {
            condition->armed = false;
            fires = condition;
        }
    }
    return fires;
}

const struct trigger *trigger_watch_look(struct trigger_watch *watch,
                                         const struct trigger_look *look, struct buffer *text)
{
    const struct watched_condition *fires;

    if (look->now < watch->looked + LOOK_NS)
        return NULL;
    watch->now = look->now;
    watch->profile = look->profile;
    watch->sweep_rest = look->sweep_rest;
    look_at_all(watch);
    fires = fire(watch, look);
    if (!fires)
        return NULL;
    describe(watch, fires, text);
    return fires->trigger;
}

const struct trigger *trigger_watch_end(struct trigger_watch *watch,
                                        const struct trigger_look *look, struct buffer *text)
{
    const struct trigger *fires = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched_condition *condition = &watch->conditions[i];

        if (condition->trigger->kind != TRIGGER_EXIT || !condition->armed)
            continue;
        condition->armed = false;
        if (!fires && look->may_fire(look->context, condition->trigger))
            fires = condition->trigger;
    }
    if (fires)
        buffer_text(text, fires->text);
    return fires;
}

int trigger_watch_add(struct target *target, const struct session_options *options,
                      struct error *error)
{
    if (!options->trigger_count)
        return 0;
    target->trigger_watch =
        trigger_watch_new(target, options->triggers, options->trigger_count, error);
    return target->trigger_watch ? 0 : -1;
}

static bool are_alike(const struct trigger *one, const struct trigger *other)
{
    if (!optional_text_equal(one->name, other->name) || strcmp(one->text, other->text) != 0 ||
        !one->nodes != !other->nodes)
        return false;
    return !one->nodes || target_rules_match_alike(one->nodes, other->nodes);
}

/* Take over what another watch of the VM has seen. `triggers` were `before` when it began. */
static void continue_watch(struct trigger_watch *watch, const struct trigger_watch *old,
                           const struct trigger *triggers, const struct trigger *before)
{
    watch->next_sweep = old->next_sweep;
    for (size_t i = 0; i < watch->count; i++)
        for (size_t j = 0; j < old->count; j++)
            if (are_alike(watch->conditions[i].trigger,
                          &before[old->conditions[j].trigger - triggers]))
                watch->conditions[i].armed = old->conditions[j].armed;
}

int trigger_watch_replace(struct target *target, const struct session_options *options,
                          const struct trigger *before, struct error *error)
{
    struct trigger_watch *old = target->trigger_watch;
    int result = 0;

    target->trigger_watch = NULL;
    if (!target->ended && target_is_readable(target))
        result = trigger_watch_add(target, options, error);
    if (old && target->trigger_watch)
        continue_watch(target->trigger_watch, old, options->triggers, before);
    trigger_watch_free(old);
    return result;
}

bool trigger_watch_need_cpu_samples(const struct session_options *options)
{
    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].kind == TRIGGER_GC)
            return true;
    return false;
}

/* `context`: whether triggers may fire. */
static bool may_fire_any(void *context, const struct trigger *trigger)
{
    (void)trigger;
    return *(const bool *)context;
}

bool trigger_watch_look_all(const struct targets *targets, bool may_fire,
                            const struct profile *profile, struct buffer *fired)
{
    const struct trigger_look look = {.now = clock_ns(CLOCK_MONOTONIC),
                                      .profile = profile,
                                      .sweep_rest = SWEEP_REST,
                                      .may_fire = may_fire_any,
                                      .context = &may_fire};
    bool found = false;

    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = targets->of[i];
        struct buffer text = {0};

        if (!target->ended && target->trigger_watch &&
            trigger_watch_look(target->trigger_watch, &look, &text)) {
            found = true;
            may_fire = false;
            if (targets->count > 1)
                buffer_format(&text, " (in process %d)", target->vm->pid);
            buffer_byte(&text, '\0');
            buffer_free(fired);
            *fired = text;
        }
    }
    return found;
}
