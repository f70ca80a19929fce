// SPDX-License-Identifier: Apache-2.0
#include "session/session_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/process.h"
#include "session/node_meter.h"
#include "session/node_name.h"
#include "session/node_watch.h"
#include "session/trigger_watch.h"
#include "session/wall.h"
#include "util/clock.h"
#include "util/log.h"

enum {
    NAME_SECONDS = 10,   /* time for a VM to get its name */
    JOIN_NS = 100000000, /* for VMs that join in one step: samples wait in the ring buffer */
};

/* Most ns between two looks for the name of a VM that has none: a look reads one term. */
static const uint64_t NAME_PAUSE_MOST_NS = 32000000000;

static bool has_name(struct vm *vm)
{
    char name[1024];

    node_name_now(vm, name, sizeof(name));
    return name[0] != '\0';
}

/* ---- start ---- */

static void set_plan(const struct session *session, struct target *target)
{
    target->plan = target->rule ? target->rule->plan : session_options_plan(session->options);
}

/* The share of ticks that give a CPU sample of the target. */
static double sampled_share(const struct session *session, const struct target *target)
{
    return (double)target->plan.frequency / session->options->frequency;
}

static int open_target(const struct session *session, struct target *target, struct error *error)
{
    set_plan(session, target);
    target->name.is_known = has_name(target->vm);
    target->symbolizer = symbolizer_new(target->vm, &session->options->name_keys,
                                        target->rule ? target->rule->service : NULL,
                                        session->segment->profile, error);
    if (target->symbolizer && session->options->process_ns)
        symbolizer_set_pace(target->symbolizer, session->options->process_ns);
    return target->symbolizer ? 0 : -1;
}

int membership_open(struct session *session, struct error *error)
{
    struct targets *targets = session->targets;

    for (size_t i = 0; i < targets->count;) {
        struct target *target = targets->of[i];

        target->number = (uint32_t)i;
        if (open_target(session, target, error) == 0) {
            i++;
            continue;
        }
        target_error(target, error);
        if (!targets_leave_out(targets, i, error))
            return -1;
    }
    session->room = targets_room(targets);
    if (targets->all)
        session->arrivals = arrivals_new(targets);
    return 0;
}

static int begin(const struct session *session, struct target *target, struct error *error)
{
    if (programs_add_target(session->programs, target->vm,
                            symbolizer_code_generation_address(target->symbolizer),
                            sampled_share(session, target), error))
        return -1;
    memory_locks_watch(session->memory_locks, target->vm);
    target_look_for_traces(target, session->programs);
    return 0;
}

int membership_begin(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (begin(session, session->targets->of[i], error))
            return target_error(session->targets->of[i], error);
    return 0;
}

/* From now on the CPU time of the VM and of its threads counts. */
static void account(struct session *session, struct target *target)
{
    if (target->plan.cpu)
        target->cpu_time =
            vm_cpu_time_new(session->cpu_time, target->vm->pid, sampled_share(session, target));
    symbolizer_look_at_threads(target->symbolizer, false);
}

void membership_account(struct session *session)
{
    session->threads_ns = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < session->targets->count; i++)
        account(session, session->targets->of[i]);
}

static int watch(const struct session *session, struct target *target, struct error *error)
{
    target->sweep_room = session->sweep_room;
    if (session->options->node_metrics)
        target->node_watch = node_watch_new(target->vm, session->options->node_metrics);
    if (session->options->node_numbers)
        target->meter = node_meter_new(target, session->options);
    return walls_add(target, session->options, error) ||
                   trigger_watch_add(target, session->options, error)
               ? -1
               : 0;
}

int membership_watch(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (watch(session, session->targets->of[i], error))
            return target_error(session->targets->of[i], error);
    return 0;
}

/* Find what is needed only when samples are read. */
static void prepare(const struct session *session, struct target *target)
{
    symbolizer_set_kernel(target->symbolizer, session->kernel, session->options->kernel_addresses);
    /* Finds drivers too; the session's first look does so again, for ports that open now. */
    symbolizer_find_states(target->symbolizer);
}

void membership_prepare(struct session *session)
{
    struct error unnamed;

    session->kernel = kernel_symbols_new(&unnamed);
    if (!session->kernel)
        log_decision("symbols", "kernel functions have no names: %s", unnamed.text);
    for (size_t i = 0; i < session->targets->count; i++)
        prepare(session, session->targets->of[i]);
}

/* ---- other events ---- */

int membership_sweep(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (walls_add(session->targets->of[i], session->options, error))
            return target_error(session->targets->of[i], error);
    return 0;
}

void membership_rest(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++)
        target_leave_events(session->targets->of[i]);
}

void membership_move(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        set_plan(session, session->targets->of[i]);
        symbolizer_move(session->targets->of[i]->symbolizer, session->segment->profile);
    }
}

/* ---- leaving ---- */

/* Note that a VM has ended or holds back memory, and warn: the recording shows the VM only up to
 * that moment. There is no warning if the end is expected: the VM is a command that beamflame
 * started, the VM has joined later, or VMs may come and go. */
static void note_end(const struct session *session, const struct target *target)
{
    if (target->vm->memory->is_held) {
        session->options->warn("process %d holds back its memory: it is not recorded any more",
                               (int)target->vm->pid);
        return;
    }
    target_note_end(target, session->segment);
    if (!target->joined && !session->targets->child && !session->targets->may_be_none)
        session->options->warn("process %d ended while it was recorded", (int)target->vm->pid);
}

void membership_note_ends(const struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (!session->targets->of[i]->ended && !target_is_readable(session->targets->of[i]))
            note_end(session, session->targets->of[i]);
}

/* Take the samples that the VM has left. Its counts belong to the summaries of the segment. */
static int detach(struct session *session, struct target *target, struct error *error)
{
    target->ended = true;
    event_samples_leave(target);
    programs_remove_target(session->programs, target->vm);
    if (target->cpu_time && vm_cpu_time_settle(target->cpu_time, true, session->segment, error))
        return -1;
    if (target->cpu_time)
        vm_cpu_time_stop(target->cpu_time);
    return target->wall ? wall_end(target->wall, true, session->segment, error) : 0;
}

static int leave(struct session *session, struct target *target, struct error *error)
{
    log_decision("targets", "process %d %s", (int)target->vm->pid,
                 target->vm->memory->is_held ? "can't be read any more" : "has ended");
    if (session->arrivals && target->vm->memory->is_held)
        refusals_add(&session->targets->refused, target->vm->pid, NULL, REFUSED_OTHER,
                     "it holds back its memory");
    note_end(session, target);
    session->ended = target->vm->pid;
    return detach(session, target, error);
}

int membership_leave_ended(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];

        if (!target->ended && !target_is_readable(target) && leave(session, target, error))
            return -1;
    }
    return 0;
}

int membership_rejoin(struct session *session, struct target *target, struct error *error)
{
    trigger_watch_free(target->trigger_watch);
    target->trigger_watch = NULL;
    arrivals_again(session->arrivals, target->vm->pid);
    return detach(session, target, error);
}

bool membership_alive(const struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (!session->targets->of[i]->ended && target_is_readable(session->targets->of[i]))
            return true;
    return false;
}

void membership_forget(struct session *session)
{
    for (size_t i = session->targets->count; i-- > 0;) {
        if (!session->targets->of[i]->ended)
            continue;
        event_samples_forget(session->events, session->targets->of[i]);
        targets_remove(session->targets, i);
    }
}

/* ---- joining ---- */

/* The lowest number that no target has. */
static uint32_t free_number(const struct targets *targets)
{
    for (uint32_t number = 0;; number++) {
        size_t i = 0;

        while (i < targets->count && targets->of[i]->number != number)
            i++;
        if (i == targets->count)
            return number;
    }
}

/* True if a VM was started with a node name and does not have it yet. Its samples have the name
 * that it has when it joins. */
static bool waits_for_name(struct vm *vm)
{
    char *requested;
    bool is_requested;

    if (has_name(vm))
        return false;
    requested = node_name_requested(vm->pid);
    is_requested = requested != NULL;
    free(requested);
    return is_requested;
}

static struct vm *open_arrival(const struct session *session, pid_t pid, struct error *error)
{
    struct vm *vm = vm_open_now(pid, session->targets->assumed_release, error);

    if (!vm || arrivals_seconds(session->arrivals, pid) > NAME_SECONDS || !waits_for_name(vm))
        return vm;
    vm_close(vm);
    error_set(error, ERROR_FAILED, "the node has no name yet");
    return NULL;
}

static int join(struct session *session, struct target *target, struct error *error)
{
    int result;

    if (open_target(session, target, error))
        return -1;
    result = begin(session, target, error);
    if (!result) {
        account(session, target);
        result = event_samples_join(session->events, target, error);
    }
    if (!result)
        result = watch(session, target, error);
    if (result)
        programs_remove_target(session->programs, target->vm);
    else
        prepare(session, target);
    return result;
}

/* Add a VM unless a rule excludes it. A VM without a name that is excluded may match another rule
 * once it has one: it is not judged for good. */
static int add(struct session *session, pid_t pid, uint32_t number, bool *ret_is_judged,
               struct error *error)
{
    struct targets *targets = session->targets;
    struct vm *vm = open_arrival(session, pid, error);
    const struct target_rule *rule;
    struct target *target;

    if (!vm)
        return -1;
    if (targets_exclude(targets, vm, &rule)) {
        *ret_is_judged = has_name(vm);
        vm_close(vm);
        return 0;
    }
    target = targets_adopt(targets, vm, rule);
    target->number = number;
    target->joined = true;
    if (join(session, target, error) == 0) {
        log_decision("targets", "process %d has started and is profiled from now on", (int)pid);
        refusals_drop(&targets->refused, pid);
        return 0;
    }
    targets_remove(targets, targets->count - 1);
    return -1;
}

/* Find a number for a VM that joins. Return false if there is no room for it. */
static bool find_room(struct session *session, uint32_t *ret_number)
{
    bool full;

    *ret_number = free_number(session->targets);
    full = *ret_number >= session->room;
    if (full && !session->is_full)
        session->options->warn("no room for more than %u VMs: VMs that start now are not "
                               "profiled until the next segment of --loop",
                               session->room);
    session->is_full = full;
    return !full;
}

/* A VM that can't be profiled yet is tried again. */
static void note_retry(struct session *session, pid_t pid, enum refusal_kind kind,
                       const struct error *why)
{
    char reason[sizeof(why->text) + 16];

    snprintf(reason, sizeof(reason), "not yet: %s", why->text);
    refusals_add(&session->targets->refused, pid, NULL, kind, reason);
}

/* If the process was a target before it began this program, let the old target leave. Return 1 if
 * the VM is a target already, 0 if not, -1 with error. */
static int make_way(struct session *session, pid_t pid, struct error *error)
{
    struct target *target = targets_find(session->targets, pid);

    if (!target || target->ended)
        return 0;
    if (target_runs(target))
        return 1;
    return leave(session, target, error);
}

/* Add a VM that is due. */
static int add_arrival(struct session *session, pid_t pid, struct error *error)
{
    struct error refused;
    uint32_t number;
    bool is_judged = true;
    int known = make_way(session, pid, error);

    if (known < 0)
        return -1;
    if (!known && !find_room(session, &number)) {
        error_set(&refused, ERROR_FAILED, "there is no room for more than %u VMs", session->room);
        arrivals_postpone(session->arrivals, pid);
        note_retry(session, pid, REFUSED_OTHER, &refused);
        return 0;
    }
    if (known || add(session, pid, number, &is_judged, &refused) == 0) {
        if (is_judged)
            arrivals_settle(session->arrivals, pid);
        else
            arrivals_ask_again(session->arrivals, pid);
        return 0;
    }
    log_detail("targets", "process %d can't be profiled: %s", (int)pid, refused.text);
    if (arrivals_failed(session->arrivals, pid, &refused))
        targets_refuse(session->targets, pid, &refused);
    else
        note_retry(session, pid,
                   refused.code == ERROR_PERMISSION ? REFUSED_RIGHTS : REFUSED_STARTING, &refused);
    return 0;
}

int membership_welcome(struct session *session, struct error *error)
{
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + JOIN_NS;
    pid_t pid;

    if (!session->arrivals)
        return 0;
    while ((pid = programs_take_start(session->programs)))
        arrivals_note(session->arrivals, pid);
    while (clock_ns(CLOCK_MONOTONIC) < until && (pid = arrivals_next(session->arrivals)))
        if (add_arrival(session, pid, error))
            return -1;
    return 0;
}

int membership_limit_timeout(const struct session *session, int timeout_ms)
{
    uint64_t wait_ms;

    if (!session->arrivals)
        return timeout_ms;
    wait_ms = arrivals_wait(session->arrivals) / 1000000;
    return wait_ms < (uint64_t)timeout_ms ? (int)wait_ms + 1 : timeout_ms;
}

/* A node can get its name at any time (net_kernel:start/2). Its samples are labelled by it, and it
 * may match another rule then. So a VM that has got one leaves, and joins again. */
static int look_for_name(struct session *session, struct target *target, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (target->name.is_known || !session->arrivals || now < target->name.due)
        return 0;
    target->name.is_known = has_name(target->vm);
    target->name.pause = node_name_pause(target->name.pause, NAME_PAUSE_MOST_NS);
    target->name.due = now + target->name.pause;
    if (!target->name.is_known)
        return 0;
    log_decision("targets", "process %d has a name now: it joins again", (int)target->vm->pid);
    return membership_rejoin(session, target, error);
}

int membership_step(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];

        if (target->ended || (target_is_at_rest(target) && !target->vm->memory->is_held))
            continue;
        if (!target_is_readable(target) ? leave(session, target, error)
                                        : look_for_name(session, target, error))
            return -1;
    }
    if (!session->arrivals)
        return 0;
    refusals_forget_ended(&session->targets->refused);
    arrivals_look(session->arrivals, start_watch_works(session->starts));
    return 0;
}
