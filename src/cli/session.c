// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/programs.h"
#include "capture/sampler.h"
#include "cli/events.h"
#include "cli/wall.h"
#include "os/kernel_symbols.h"
#include "os/process.h"
#include "profile/events.h"
#include "symbol/snapshot.h"
#include "symbol/symbolizer.h"
#include "util/alloc.h"
#include "util/clock.h"

static const uint64_t SECOND = 1000000000;

struct session {
    const struct record_options *options;
    struct targets *targets;
    struct symbolizer *symbolizers[PIDS_MAX];
    struct kernel_symbols *kernel;
    struct profile *profile;
    event_id cpu, wall;
    struct wall *walls[PIDS_MAX];
    struct programs *programs;
    struct sampler *sampler; /* NULL: CPU samples are not needed */
    struct events *events;
    struct recording_writer *writer;
    struct recording_totals totals;
    struct thread_times threads;
    uint64_t first_ns, flushed_ns;
    int write_result; /* of appending while samples are passed */
    struct error write_error;
    /* samples a process since the last flush, for the live line */
    uint32_t *recent;
    uint32_t recent_room, recent_total;
    char busiest[128];
    double busiest_share;
};

/* ---- start ---- */

/* Why a target could not be attached to. */
static int target_error(const struct vm *vm, struct error *error)
{
    if (!process_exists(vm->pid))
        return error_set(error, ERROR_NO_PROCESS, "process %d ended while it was attached to",
                         vm->pid);
    return error_prefix(error, "process %d", vm->pid);
}

/* Of all VMs of the host, one that can't be profiled is left out. */
static int open_symbolizers(struct session *session, struct error *error)
{
    struct targets *targets = session->targets;

    for (size_t i = 0; i < targets->count;) {
        session->symbolizers[i] = symbolizer_new(targets->vms[i], session->profile, error);
        if (session->symbolizers[i]) {
            i++;
            continue;
        }
        target_error(targets->vms[i], error);
        if (!session->options->all || targets->count == 1 ||
            !targets_may_leave_out(targets->vms[i]->pid, error))
            return -1;
        targets_leave_out(targets, i);
    }
    return 0;
}

static int add_targets(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (programs_add_target(session->programs, session->targets->vms[i],
                                symbolizer_code_generation_address(session->symbolizers[i]), error))
            return target_error(session->targets->vms[i], error);
    return 0;
}

static int open_recording(struct session *session, const char *path, const char *command_line,
                          struct error *error)
{
    const char *directory = getenv("TMPDIR");
    struct utsname uts;
    struct recording_header header = {
        .start_realtime = clock_ns(CLOCK_REALTIME),
        .start_monotonic = clock_ns(CLOCK_MONOTONIC),
        .frequency = session->options->frequency,
        .cpus = programs_cpus(session->programs),
        .event = session->sampler ? sampler_event(session->sampler) : "",
        .command = command_line,
        .version = BEAMFLAME_VERSION,
    };

    uname(&uts);
    header.hostname = uts.nodename;
    header.kernel = uts.release;
    session->writer = recording_create(path, directory ? directory : "/tmp", &header, error);
    return session->writer ? 0 : -1;
}

/* Takes longer than all of the rest, so samples are let to wait for it. */
static void prepare_symbolizers(struct session *session)
{
    struct error ignored; /* kernel functions are then shown by address */

    session->kernel = kernel_symbols_new(&ignored);
    for (size_t i = 0; i < session->targets->count; i++) {
        symbolizer_set_kernel(session->symbolizers[i], session->kernel);
        symbolizer_prepare(session->symbolizers[i]);
    }
}

static void look_at_targets(struct session *session)
{
    session->threads.count = 0;
    for (size_t i = 0; i < session->targets->count; i++)
        symbolizer_look(session->symbolizers[i], &session->threads);
}

static int load_programs(struct session *session, struct error *error)
{
    struct programs_options options = {.frequency = session->options->frequency};

    events_sizes(session->events, session->targets, &options);
    session->programs = programs_new(&options);
    if (programs_open(session->programs, error))
        return -1;
    if (session->options->cpu || session->options->wall || events_need_cpu_samples(session->events))
        session->sampler = sampler_new(session->programs, "sample_cpu", options.frequency);
    if (events_find(session->events, session->programs, session->targets, session->symbolizers,
                    error))
        return -1;
    return programs_load(session->programs, error);
}

static int start_walls(struct session *session, struct error *error)
{
    const struct wall_options options = {
        .frequency = session->options->wall_frequency,
        .cpu_interval = SECOND / session->options->frequency,
        .top = session->options->top,
    };

    for (size_t i = 0; session->wall && i < session->targets->count; i++) {
        session->walls[i] = wall_new(session->targets->vms[i], session->symbolizers[i],
                                     session->profile, session->wall, &options, error);
        if (!session->walls[i])
            return target_error(session->targets->vms[i], error);
    }
    return 0;
}

static int start(struct session *session, const char *recording_path, const char *command_line,
                 uint64_t started_ns, struct error *error)
{
    session->profile = profile_new();
    if (session->options->cpu)
        session->cpu = event_define(session->profile, EVENT_CPU);
    if (session->options->wall)
        session->wall = event_define(session->profile, EVENT_WALL);
    session->events = events_new(session->options, session->profile);
    if (open_symbolizers(session, error) || load_programs(session, error) ||
        add_targets(session, error) ||
        (session->sampler && sampler_start(session->sampler, error)) ||
        open_recording(session, recording_path, command_line, error) ||
        events_start(session->events, error) || start_walls(session, error))
        return -1;
    session->first_ns = session->flushed_ns = clock_ns(CLOCK_MONOTONIC);
    session->totals.attach_ns = session->first_ns - started_ns;
    look_at_targets(session);
    prepare_symbolizers(session);
    return 0;
}

struct session *session_start(const struct record_options *options, struct targets *targets,
                              const char *recording_path, const char *command_line,
                              uint64_t started_ns, struct error *error)
{
    struct session *session = xcalloc(1, sizeof(*session));

    session->options = options;
    session->targets = targets;
    if (start(session, recording_path, command_line, started_ns, error) == 0)
        return session;
    session_free(session);
    return NULL;
}

void session_free(struct session *session)
{
    struct error ignored;

    if (!session)
        return;
    if (session->writer)
        recording_finish(session->writer, session->profile, &session->totals, NULL, &ignored);
    for (size_t i = 0; i < session->targets->count; i++)
        wall_free(session->walls[i]);
    sampler_free(session->sampler);
    events_free(session->events);
    programs_free(session->programs);
    for (size_t i = 0; i < session->targets->count; i++)
        symbolizer_free(session->symbolizers[i]);
    kernel_symbols_free(session->kernel);
    profile_free(session->profile);
    free(session->recent);
    thread_times_free(&session->threads);
    free(session);
}

/* ---- samples ---- */

/* Which target a process is; -1 if none. */
static int target_of(const struct session *session, uint32_t pid)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if ((uint32_t)session->targets->vms[i]->pid == pid)
            return (int)i;
    return -1;
}

static void count_recent(struct session *session, process_id process)
{
    if (!process)
        return;
    if (process >= session->recent_room) {
        uint32_t room = process * 2;

        session->recent = xreallocarray(session->recent, room, sizeof(*session->recent));
        memset(session->recent + session->recent_room, 0,
               (room - session->recent_room) * sizeof(*session->recent));
        session->recent_room = room;
    }
    session->recent[process]++;
    session->recent_total++;
}

static void take_cpu(struct session *session, int target, const struct snapshot *snapshot,
                     struct sample *sample)
{
    session->write_result = events_cpu_sample(session->events, (size_t)target, snapshot, sample,
                                              session->writer, &session->write_error);
    if (!session->write_result && session->walls[target])
        session->write_result = wall_cpu_sample(session->walls[target], sample, &session->totals,
                                                session->writer, &session->write_error);
    if (session->write_result || !session->options->cpu)
        return;
    sample->event = session->cpu;
    sample->values[CPU_TIME] = SECOND / session->options->frequency;
    count_recent(session, sample->process);
    session->write_result =
        recording_append(session->writer, session->profile, sample, &session->write_error);
}

static void take_hit(struct session *session, int target, const struct snapshot *snapshot,
                     const struct wire_hit *hit, struct sample *sample)
{
    if (hit->peer)
        sample->peer = symbolizer_process(session->symbolizers[target], hit->peer, sample->time);
    events_sample(session->events, (size_t)target, snapshot, hit, sample);
}

static void take(void *context, const void *data, size_t size)
{
    struct session *session = context;
    struct snapshot snapshot;
    struct recording_totals not_recorded = {0}; /* CPU samples that others only learn from */
    const struct wire_hit *hit;
    struct sample sample;
    int target;

    if (session->write_result)
        return;
    if (!snapshot_open(&snapshot, data, size) ||
        (target = target_of(session, snapshot.sample->pid)) < 0) {
        session->totals.losses[LOSS_BAD_SAMPLE]++;
        return;
    }
    hit = (const void *)snapshot_segment(&snapshot, SEGMENT_HIT, sizeof(struct wire_hit));
    symbolizer_sample(session->symbolizers[target], &snapshot, &sample,
                      hit || session->options->cpu ? &session->totals : &not_recorded);
    if (hit)
        take_hit(session, target, &snapshot, hit, &sample);
    else
        take_cpu(session, target, &snapshot, &sample);
}

static void note_busiest(struct session *session)
{
    uint32_t most = 0;
    process_id busiest = 0;

    for (process_id id = 1; id < session->recent_room; id++) {
        if (session->recent[id] > most) {
            most = session->recent[id];
            busiest = id;
        }
        session->recent[id] = 0;
    }
    session->busiest[0] = 0;
    if (busiest) {
        const struct process_entry *entry = profile_get_process(session->profile, busiest);
        string_id name = entry->name    ? entry->name
                         : entry->label ? entry->label
                                        : entry->initial_call;

        snprintf(session->busiest, sizeof(session->busiest), "%s %.90s",
                 profile_text(session->profile, entry->pid), profile_text(session->profile, name));
        session->busiest_share = (double)most / session->recent_total;
    }
    session->recent_total = 0;
}

static void update_totals(struct session *session)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    session->totals.end_monotonic = clock_ns(CLOCK_MONOTONIC);
    session->totals.losses[LOSS_RING_FULL] = programs_lost(session->programs);
    session->totals.profiler_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    session->totals.peak_rss_kb = (uint64_t)usage.ru_maxrss;
}

/* How long threads ran, which completes what CPU samples say. */
static int put_threads(struct session *session, struct error *error)
{
    if (!session->cpu)
        return 0;
    look_at_targets(session);
    return recording_put_threads(session->writer, session->profile, &session->threads, error);
}

static int step_walls(struct session *session, struct error *error)
{
    for (size_t i = 0; session->wall && i < session->targets->count; i++)
        if (wall_step(session->walls[i], clock_ns(CLOCK_MONOTONIC), &session->totals,
                      session->writer, error))
            return -1;
    return 0;
}

/* No longer than until the next sweep. */
static int limit_timeout(const struct session *session, int timeout_ms)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; session->wall && i < session->targets->count; i++) {
        uint64_t due_ms = wall_due(session->walls[i], now) / 1000000;

        if (due_ms < (uint64_t)timeout_ms)
            timeout_ms = (int)due_ms;
    }
    return timeout_ms;
}

static int finish_walls(struct session *session, struct error *error)
{
    for (size_t i = 0; session->wall && i < session->targets->count; i++)
        if (wall_finish(session->walls[i], &session->totals, session->writer, error))
            return -1;
    return 0;
}

static int put_wall_summary(struct session *session, struct error *error)
{
    struct event_tally tallies[WALL_TALLIES] = {{0}};
    struct event_summary summary = {
        .event = session->wall, .tallies = tallies, .tally_count = WALL_TALLIES};

    if (!session->wall)
        return 0;
    for (int i = 0; i < WALL_TALLIES; i++)
        tallies[i].name = profile_string_z(session->profile, wall_tally_names[i]);
    for (size_t i = 0; i < session->targets->count; i++)
        wall_add_summary(session->walls[i], &summary, tallies);
    return recording_put_summary(session->writer, session->profile, &summary, error);
}

static int failed_write(struct session *session, struct error *error)
{
    *error = session->write_error;
    return -1;
}

int session_step(struct session *session, int timeout_ms, struct error *error)
{
    uint64_t now;

    if (programs_poll(session->programs, limit_timeout(session, timeout_ms), take, session, error) <
        0)
        return -1;
    if (session->write_result)
        return failed_write(session, error);
    if (events_release(session->events, session->writer, error) || step_walls(session, error))
        return -1;
    for (size_t i = 0; i < session->targets->count; i++)
        symbolizer_refresh(session->symbolizers[i]);
    now = clock_ns(CLOCK_MONOTONIC);
    if (now - session->flushed_ns < SECOND)
        return 0;
    session->flushed_ns = now;
    note_busiest(session);
    update_totals(session);
    if (put_threads(session, error) ||
        events_put_summaries(session->events, session->writer, error) ||
        put_wall_summary(session, error))
        return -1;
    return recording_flush(session->writer, session->profile, &session->totals, error);
}

bool session_alive(const struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++)
        if (process_exists(session->targets->vms[i]->pid))
            return true;
    return false;
}

struct session_status session_status(struct session *session)
{
    return (struct session_status){
        .seconds = (double)(clock_ns(CLOCK_MONOTONIC) - session->first_ns) / (double)SECOND,
        .samples = session->totals.samples,
        .lost = programs_lost(session->programs),
        .busiest = session->busiest,
        .busiest_share = session->busiest_share,
    };
}

/* Take what the kernel still holds. */
static int take_rest(struct session *session, struct error *error)
{
    if (session->sampler)
        sampler_stop(session->sampler);
    events_stop(session->events);
    if (put_threads(session, error) ||
        programs_poll(session->programs, 0, take, session, error) < 0)
        return -1;
    if (session->write_result)
        return failed_write(session, error);
    if (events_release(session->events, session->writer, error) || finish_walls(session, error) ||
        events_put_summaries(session->events, session->writer, error))
        return -1;
    return put_wall_summary(session, error);
}

int session_finish(struct session *session, int *ret_fd, struct error *error)
{
    struct recording_writer *writer = session->writer;
    struct error rest_error;
    int rest, finished;

    *ret_fd = -1;
    rest = take_rest(session, &rest_error);
    update_totals(session);
    session->writer = NULL;
    finished = recording_finish(writer, session->profile, &session->totals, ret_fd, error);
    if (rest)
        *error = rest_error;
    return rest ? -1 : finished;
}
