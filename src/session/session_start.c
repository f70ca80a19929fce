// SPDX-License-Identifier: Apache-2.0
/* The start of a session: programs are loaded, sampling and probes begin. They begin again when its
 * events change. */
#include "session/session.h"

#include <string.h>

#include "session/session_internal.h"
#include "session/trigger_watch.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/stop.h"

static int load_programs(struct session *session, struct error *error)
{
    struct programs_options options = {.clock = session->options->clock,
                                       .frequency = session->options->frequency,
                                       .targets = session->room};

    for (size_t i = 0; i < session->targets->count; i++)
        if (options.schedulers < session->targets->of[i]->vm->scheduler_count * session->room)
            options.schedulers = session->targets->of[i]->vm->scheduler_count * session->room;
    event_samples_sizes(session->events, session->room, &options);
    session->programs = programs_new(&options);
    if (programs_open(session->programs, error))
        return -1;
    if (session->options->cpu || session->options->wall ||
        event_samples_need_cpu(session->events) || trigger_watch_need_cpu_samples(session->options))
        session->sampler = sampler_new(session->programs, "sample_cpu", session->options->clock,
                                       options.frequency);
    session->memory_locks = memory_locks_new(session->programs);
    if (session->arrivals)
        session->starts = start_watch_new(session->programs);
    if (event_samples_find(session->events, session->programs, session->memory_locks, error))
        return -1;
    if (programs_load(session->programs, error))
        return -1;
    if (session->starts)
        start_watch_begin(session->starts);
    return 0;
}

/* Start the sampler, and the account of CPU time with it. */
static int start_sampling(struct session *session, struct error *error)
{
    if (session->sampler) {
        if (sampler_start(session->sampler, error))
            return -1;
        if (session->options->cpu)
            session->cpu_time =
                cpu_time_new(session->options->clock, sampler_period(session->sampler),
                             session->options->frequency);
    }
    membership_account(session);
    session->segment->begin = clock_ns(CLOCK_MONOTONIC);
    return 0;
}

/* Find the functions whose calls are counted. There is one target then. */
static int find_calls(struct session *session, struct error *error)
{
    if (!session->options->function_count)
        return 0;
    session->calls =
        call_events_new(session->options, session->targets->of[0], session->segment, error);
    return session->calls ? 0 : -1;
}

/* Begin to sample the targets, which have symbolizers. */
static int begin(struct session *session, struct error *error)
{
    if (find_calls(session, error) || load_programs(session, error) ||
        membership_begin(session, error) || start_sampling(session, error))
        return -1;
    return event_samples_start(session->events, error);
}

static int start(struct session *session, uint64_t started_ns, struct error *error)
{
    session->segment = segment_new(session->options, NULL);
    session->events =
        event_samples_new(session->options, session->targets, session->segment->profile);
    if (membership_open(session, error) || begin(session, error) ||
        membership_watch(session, error))
        return -1;
    for (size_t i = 0; i < session->targets->count; i++)
        target_look(session->targets->of[i], false, session->segment, session->options->warn);
    session->first_ns = clock_ns(CLOCK_MONOTONIC);
    session->segment->totals.attach_ns = session->first_ns - started_ns;
    membership_prepare(session);
    /* The last thing: until the first step, nothing limits what hits cost. */
    return session->calls ? call_events_start(session->calls, error) : 0;
}

/* ---- other events ---- */

/* Free the programs of the kernel, and all that belongs to them. Each part borrows those that are
 * freed after it. */
static void unload(struct session *session)
{
    if (session->programs)
        session->lost += programs_lost(session->programs);
    call_events_free(session->calls);
    membership_rest(session);
    start_watch_free(session->starts);
    cpu_time_free(session->cpu_time);
    sampler_free(session->sampler);
    event_samples_free(session->events);
    memory_locks_free(session->memory_locks);
    programs_free(session->programs);
    session->calls = NULL;
    session->starts = NULL;
    session->cpu_time = NULL;
    session->sampler = NULL;
    session->memory_locks = NULL;
    session->programs = NULL;
    session->events =
        event_samples_new(session->options, session->targets, session->segment->profile);
}

/* Return 0 if one target has the event, or -1 with the reason why the last one has not. */
static int check_event(const struct session *session, const char *name, struct error *error)
{
    const struct session_options *options = session->options;
    size_t count = session->targets->count, refused = 0;
    int event = 0;

    while (event < options->event_count && strcmp(options->events[event].name, name) != 0)
        event++;
    if (event == options->event_count || !count)
        return 0;
    for (size_t i = 0; i < count; i++)
        refused += event_probes_refused(session->targets->of[i]->probes, event, error) != 0;
    return refused == count ? -1 : 0;
}

/* Begin a segment, to which the times and names of the targets belong from now on. */
static void begin_anew(struct session *session)
{
    struct segment *before = session->segment;

    session_leave_segment(session);
    session->segment = segment_new(session->options, before);
    session->segment->lost_before = 0; /* the programs that are loaded now begin to count */
    unload(session);
    membership_move(session);
    segment_free(before);
}

int session_change(struct session *session, const char *added, struct error *error)
{
    begin_anew(session);
    if (begin(session, error) || membership_sweep(session, error) ||
        (added && check_event(session, added, error)) ||
        (session->calls && call_events_start(session->calls, error))) {
        unload(session);
        return -1;
    }
    session->changed = true;
    return 0;
}

/* ---- the start ---- */

static void remove_target(struct targets *targets, size_t index)
{
    struct error held;

    if (vm_check_held(targets->of[index]->vm, &held))
        targets_refuse(targets, targets->of[index]->vm->pid, &held);
    targets_remove(targets, index);
}

/* Remove the targets that have ended or hold back memory if all VMs of the host are targets. True
 * if some were removed, and the others are enough. */
static bool drop_lost(struct targets *targets)
{
    size_t before = targets->count;

    for (size_t i = targets->all ? targets->count : 0; i-- > 0;)
        if (!target_is_readable(targets->of[i]))
            remove_target(targets, i);
    return (targets->count || targets->may_be_none) && targets->count < before;
}

struct session *session_start(const struct session_options *options, struct targets *targets,
                              const char *command_line, uint64_t started_ns, struct error *error)
{
    do {
        struct session *session = xcalloc(1, sizeof(*session));

        session->options = options;
        session->targets = targets;
        session->command_line = command_line;
        session->sweep_room = sweep_room_new();
        /* Searches that a signal cut short would be taken for a VM without these functions. */
        if (start(session, started_ns, error) == 0 && !stop_requested)
            return session;
        session_free(session);
    } while (!stop_requested && drop_lost(targets)); /* one of them does not stop the others */
    if (stop_requested)
        stop_error(error);
    return NULL;
}
