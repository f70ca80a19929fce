// SPDX-License-Identifier: Apache-2.0
#include "session/target.h"

#include <stdlib.h>

#include "native/memory.h"
#include "os/process.h"
#include "session/cpu_time.h"
#include "session/node_meter.h"
#include "session/node_watch.h"
#include "session/trigger_watch.h"
#include "session/wall.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

/* The age at which a reading of the activity is too old. Each reading visits all threads of the VM,
 * so readers share one. Sweeps and looks at threads need an exact reading. All other readers may
 * see a run up to a second later. */
static const uint64_t EXACT_NS = 20000000, LATE_NS = 1000000000;

struct target *target_new(struct vm *vm, const struct target_rule *rule)
{
    struct target *target = xcalloc(1, sizeof(*target));

    target->vm = vm;
    target->rule = rule;
    return target;
}

/* In these functions, each part borrows those that are freed after it. */

void target_leave_events(struct target *target)
{
    wall_free(target->wall);
    vm_cpu_time_free(target->cpu_time);
    event_probes_free(target->probes);
    allocation_free(target->allocation);
    memory_watch_lock(target->vm->memory, NULL, NULL, 0);
    target->wall = NULL;
    target->cpu_time = NULL;
    target->probes = NULL;
    target->allocation = NULL;
    target->has_traces = false;
}

void target_leave_session(struct target *target)
{
    trigger_watch_free(target->trigger_watch);
    node_watch_free(target->node_watch);
    node_meter_free(target->meter);
    target_leave_events(target);
    symbolizer_free(target->symbolizer);
    *target = (struct target){.vm = target->vm, .rule = target->rule};
}

bool target_runs(const struct target *target)
{
    return memory_is_there(target->vm->memory);
}

bool target_is_readable(const struct target *target)
{
    return target_runs(target) && !target->vm->memory->is_held;
}

void target_note_sample(struct target *target)
{
    target->activity.samples++;
    target->rested = false;
}

static uint64_t most_age(enum target_reader reader)
{
    return reader == READER_WALL || reader == READER_THREADS ? EXACT_NS : LATE_NS;
}

/* Read the activity if the last reading is too old. False if the VM has ended. */
static bool read_activity(struct target *target, enum target_reader reader)
{
    uint64_t time = clock_ns(CLOCK_MONOTONIC);

    if (time - target->activity_ns < most_age(reader))
        return true;
    if (!process_cpu_time(target->vm->pid, &target->activity.cpu_ns))
        return false;
    target->activity_ns = time;
    return true;
}

bool target_has_rested(struct target *target, enum target_reader reader)
{
    const struct target_activity *now = &target->activity, before = target->seen[reader];

    if (!read_activity(target, reader))
        return false;
    target->seen[reader] = *now;
    return now->cpu_ns == before.cpu_ns && now->samples == before.samples;
}

bool target_has_hardly_run(struct target *target, enum target_reader reader, uint64_t most_ns)
{
    if (!read_activity(target, reader))
        return false;
    if (target->activity.cpu_ns - target->seen[reader].cpu_ns < most_ns)
        return true;
    target->seen[reader] = target->activity;
    return false;
}

void target_note_rest(struct target *target)
{
    target->rested = target_has_rested(target, READER_SECOND);
}

bool target_is_at_rest(const struct target *target)
{
    return target->rested && !target->ended;
}

void target_free(struct target *target)
{
    target_leave_session(target);
    vm_close(target->vm);
    free(target);
}

int target_error(const struct target *target, struct error *error)
{
    pid_t pid = target->vm->pid;

    if (!target_runs(target))
        return error_set(error, ERROR_NO_PROCESS, "process %d ended while beamflame attached to it",
                         pid);
    if (vm_check_held(target->vm, error))
        return -1;
    return error_prefix(error, "process %d", pid);
}

static struct target_life *life_of(const struct target *target, struct segment *segment)
{
    return target_life_of(&segment->lives, symbolizer_target(target->symbolizer));
}

void target_look(struct target *target, bool has_rested, struct segment *segment,
                 warn_function warn)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    uint64_t since = target->life.looked ? now - target->life.looked : 0;
    bool is_stopped = has_rested ? target->life.stopped : process_is_stopped(target->vm->pid);

    /* If it was stopped at one of the two looks, half of the time between is the best guess. */
    if (since && (is_stopped || target->life.stopped))
        life_of(target, segment)->stopped_ns +=
            is_stopped && target->life.stopped ? since : since / 2;
    target->life.looked = now;
    target->life.stopped = is_stopped;
    if (is_stopped && !target->life.was_stopped)
        warn(PROCESS_IS_STOPPED, (int)target->vm->pid);
    target->life.was_stopped |= is_stopped;
}

void target_note_end(const struct target *target, struct segment *segment)
{
    life_of(target, segment)->ended = clock_ns(CLOCK_MONOTONIC);
}

void target_look_for_traces(struct target *target, struct programs *programs)
{
    if (target->has_traces || !trace_atoms_look(target->vm, &target->trace_atoms))
        return;
    target->has_traces = true;
    programs_set_traces(programs, target->vm, &target->trace_atoms.wire);
    symbolizer_set_traces(target->symbolizer, &target->trace_atoms.wire);
    log_decision("traces", "process %d has OpenTelemetry: the traces of its processes are read",
                 (int)target->vm->pid);
}
