// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "native/debug_fetch.h"
#include "profile/events.h"
#include "session/node_meter.h"
#include "session/node_watch.h"
#include "session/session_internal.h"
#include "session/trigger_watch.h"
#include "session/wall.h"
#include "symbol/snapshot.h"
#include "util/clock.h"
#include "util/utf8.h"

static const uint64_t SECOND = 1000000000;

void session_free(struct session *session)
{
    if (!session)
        return;
    call_events_free(session->calls);
    for (size_t i = 0; i < session->targets->count; i++)
        target_leave_session(session->targets->of[i]);
    arrivals_free(session->arrivals);
    start_watch_free(session->starts);
    cpu_time_free(session->cpu_time);
    sampler_free(session->sampler);
    event_samples_free(session->events);
    memory_locks_free(session->memory_locks);
    programs_free(session->programs);
    kernel_symbols_free(session->kernel);
    segment_free(session->segment);
    busiest_free(&session->busiest);
    buffer_free(&session->fired);
    sweep_room_free(session->sweep_room);
    free(session);
}

/* ---- segments ---- */

/* Calls are counted in one target. Forget them with it. */
static void forget_calls(struct session *session)
{
    if (!session->calls || !session->targets->of[0]->ended)
        return;
    call_events_free(session->calls);
    session->calls = NULL;
}

void session_leave_segment(struct session *session)
{
    const struct recording_totals *totals = &session->segment->totals;

    if (session->paused) /* the times of threads in the pause belong to no segment */
        session_look_at_all(session);
    forget_calls(session);
    membership_forget(session);
    session->samples += totals->samples;
    for (int i = 0; i < LOSS_COUNT; i++)
        session->losses[i] += totals->losses[i];
}

/* Begin the next segment, and let everything refer to it instead of the old one. */
static void follow_segment(struct session *session)
{
    struct segment *before = session->segment;

    session_leave_segment(session);
    session->segment = segment_new(session->options, before);
    if (session->paused)
        session->segment->begin = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < session->targets->count; i++)
        symbolizer_move(session->targets->of[i]->symbolizer, session->segment->profile);
    event_samples_begin(session->events, session->segment->profile);
    call_events_begin_segment(session->calls, session->segment);
    walls_begin(session->targets, before, session->segment);
    if (session->cpu_time)
        cpu_time_begin(session->cpu_time);
    segment_free(before);
}

int session_begin(struct session *session, int fd, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct utsname uts;
    struct recording_header header = {
        .frequency = session->options->frequency,
        .cpus = programs_cpus(session->programs),
        .event = session->sampler ? session->options->clock->name : "",
        .command = session->command_line,
        .version = BEAMFLAME_VERSION,
        .trigger = "",
    };

    uname(&uts);
    header.hostname = uts.nodename;
    header.kernel = uts.release;
    if (session->segment->totals.end_monotonic)
        follow_segment(session);
    session->write_result = 0;
    event_spans_place(&session->segment->spans, 0);
    if (!session->presence.since || session->paused)
        presence_begin(&session->presence, now);
    if (!session->looked_ns) /* a look is due each second, however short the segments are */
        session->looked_ns = now;
    session->flushed_ns = session->looked_ns; /* so that one look serves both from now on */
    return segment_open(session->segment, fd, &header, error);
}

/* ---- samples ---- */

static void take_cpu(struct session *session, const struct target *target,
                     const struct snapshot *snapshot, struct sample *sample)
{
    uint64_t base = target->cpu_time ? vm_cpu_time_base(target->cpu_time, snapshot) : 0;

    if (target->trigger_watch)
        trigger_watch_cpu_sample(target->trigger_watch, sample);
    if (target->meter)
        node_meter_cpu_sample(target->meter, session->segment->profile, sample, base);
    session->write_result = event_samples_take_cpu(session->events, target, snapshot, sample,
                                                   session->segment, &session->write_error);
    if (!session->write_result && target->wall)
        session->write_result =
            wall_cpu_sample(target->wall, sample, session->segment, &session->write_error);
    if (session->write_result || !target->cpu_time)
        return;
    sample->event = session->segment->cpu;
    sample->values[CPU_TIME] = base;
    busiest_count(&session->busiest, sample->process);
    segment_hold(session->segment, sample->time);
    vm_cpu_time_hold(target->cpu_time, sample);
}

static void take_hit(struct session *session, const struct target *target,
                     const struct snapshot *snapshot, const struct wire_hit *hit,
                     struct sample *sample)
{
    if (hit->peer)
        sample->peer = symbolizer_process(target->symbolizer, hit->peer, sample->time);
    segment_hold(session->segment, sample->time);
    event_samples_take(session->events, target, snapshot, hit, sample);
}

static void take(void *context, const void *data, size_t size)
{
    struct session *session = context;
    struct recording_totals not_recorded = {0}; /* CPU samples that only other events need */
    struct snapshot snapshot;
    const struct wire_hit *hit;
    struct sample sample;
    struct target *target;

    if (session->write_result)
        return;
    if (!snapshot_open(&snapshot, data, size) ||
        !(target = targets_find(session->targets, (pid_t)snapshot.sample->pid))) {
        session->segment->totals.losses[LOSS_BAD_SAMPLE]++;
        return;
    }
    target_note_sample(target);
    hit = (const void *)snapshot_region(&snapshot, REGION_HIT, sizeof(struct wire_hit));
    symbolizer_sample(target->symbolizer, &snapshot, &sample,
                      hit || target->cpu_time ? &session->segment->totals : &not_recorded);
    presence_sample(&session->presence, sample.time, clock_ns(CLOCK_MONOTONIC));
    if (hit)
        take_hit(session, target, &snapshot, hit, &sample);
    else
        take_cpu(session, target, &snapshot, &sample);
}

/* Write the times of threads, as they were last read, and the totals of CPU samples with them. */
static int put_threads(struct session *session, struct error *error)
{
    struct segment *segment = session->segment;
    size_t left_out;

    if (!segment->cpu)
        return 0;
    segment->threads.count = 0;
    for (size_t i = 0; i < session->targets->count; i++)
        if (session->targets->of[i]->cpu_time)
            symbolizer_threads(session->targets->of[i]->symbolizer, &segment->threads);
    left_out = thread_times_limit(&segment->threads);
    if (left_out) /* the times are those since the start of the segment, and so is the number */
        segment->totals.losses[LOSS_THREAD_TIMES] = left_out;
    cpu_time_threads(session->cpu_time, segment->profile, &segment->threads);
    cpu_time_totals(session->cpu_time, &segment->totals);
    return recording_put_threads(segment->writer, segment->profile, &segment->threads, error);
}

static int settle_cpu_time(struct session *session, bool all, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct vm_cpu_time *own = session->targets->of[i]->cpu_time;

        if (own && vm_cpu_time_settle(own, all, session->segment, error))
            return -1;
    }
    return 0;
}

/* Let newer samples wait for those that are held. */
static void note_held(struct session *session)
{
    uint64_t oldest = event_samples_oldest(session->events);

    for (size_t i = 0; i < session->targets->count; i++) {
        const struct vm_cpu_time *own = session->targets->of[i]->cpu_time;
        uint64_t time = own ? vm_cpu_time_oldest(own) : UINT64_MAX;

        if (time < oldest)
            oldest = time;
    }
    segment_set_held(session->segment, oldest);
}

static int put_summaries(struct session *session, struct error *error)
{
    struct segment *segment = session->segment;

    if (event_samples_put_summaries(session->events, segment, error) ||
        call_events_put_summaries(session->calls, segment, error) ||
        walls_put_summary(session->targets, segment, error) ||
        recording_put_lives(segment->writer, segment->profile, &segment->lives, error) ||
        recording_put_marks(segment->writer, segment->profile, &segment->marks, error) ||
        recording_put_spans(segment->writer, segment->profile, &segment->spans, error) ||
        recording_put_node_metrics(segment->writer, segment->profile, &segment->node_metrics,
                                   error))
        return -1;
    time_marks_clear(&segment->marks);
    event_spans_clear(&segment->spans);
    node_metrics_clear(&segment->node_metrics);
    return 0;
}

static int failed_write(struct session *session, struct error *error)
{
    *error = session->write_error;
    return -1;
}

static void name_late(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++)
        symbolizer_name_late(session->targets->of[i]->symbolizer, session->segment->writer);
}

static int flush(struct session *session, struct error *error)
{
    name_late(session);
    if (put_threads(session, error) || put_summaries(session, error))
        return -1;
    return segment_flush(session->segment, programs_lost(session->programs), error);
}

static int at_times(struct session *session, uint64_t now, struct error *error)
{
    bool due = now - session->flushed_ns >= session->options->flush_ns;
    bool second = now - session->looked_ns >= SECOND;

    if (second || due)
        session_look_at_targets(session);
    if (due && now - session->threads_ns >= session->options->threads_ns)
        session_look_at_threads(session);
    if (second) {
        session->looked_ns = now;
        if (session_each_second(session, error))
            return -1;
    }
    if (!due)
        return 0;
    session->flushed_ns = now;
    return flush(session, error);
}

/* Stop the sampler after the guard has disabled its ticks. */
static void stop_sampler(struct session *session)
{
    sampler_stop(session->sampler);
    for (size_t i = 0; i < session->targets->count; i++)
        if (session->targets->of[i]->cpu_time)
            vm_cpu_time_interrupt(session->targets->of[i]->cpu_time);
    session->guarded = true;
}

/* Stop the sampler if the guard has disabled its ticks. Return 0, or -1 with the reason. */
static int check_clock(struct session *session, struct error *error)
{
    const char *name = session->options->clock->name;
    uint32_t cpu;
    enum wire_guard_reason reason = session->sampler ? programs_guard(session->programs, &cpu) : 0;

    if (reason == WIRE_GUARD_QUIET)
        return 0;
    if (!session->guarded)
        stop_sampler(session);
    session->segment->totals.losses[LOSS_CLOCK_STOPPED] = 1;
    if (reason == WIRE_GUARD_STORM)
        return error_set(error, ERROR_FAILED,
                         "CPU sampling was stopped to protect the machine: '%s' interrupted CPU %u "
                         "more than twice as often as -F %u says",
                         name, cpu, session->options->frequency);
    return error_set(error, ERROR_FAILED,
                     "CPU sampling was stopped to protect the machine: at -F %u, handling the "
                     "interrupts of '%s' took more than 5 %% of CPU %u: use a lower -F",
                     session->options->frequency, name, cpu);
}

int session_step(struct session *session, int timeout_ms, struct error *error)
{
    uint64_t looked = clock_ns(CLOCK_MONOTONIC);

    timeout_ms =
        membership_limit_timeout(session, walls_limit_timeout(session->targets, timeout_ms));
    timeout_ms = call_events_limit_timeout(session->calls, timeout_ms);
    timeout_ms = session_limit_timeout(session, timeout_ms);
    if (programs_poll(session->programs, timeout_ms, take, session, error) < 0)
        return -1;
    presence_step(&session->presence, clock_ns(CLOCK_MONOTONIC), &session->segment->spans);
    if (session->write_result)
        return failed_write(session, error);
    if (check_clock(session, error) ||
        event_samples_release(session->events, session->segment, error) ||
        walls_step(session->targets, session->segment, error) ||
        call_events_step(session->calls, session->segment, error) ||
        settle_cpu_time(session, false, error))
        return -1;
    note_held(session);
    segment_looked(session->segment, looked);
    node_watches_step(session->targets, session->segment, false);
    node_meters_step(session->targets, session->segment);
    debug_fetch_step();
    if (membership_welcome(session, error))
        return -1;
    return at_times(session, clock_ns(CLOCK_MONOTONIC), error);
}

bool session_may_continue(const struct session *session)
{
    return !session->guarded;
}

bool session_alive(const struct session *session)
{
    return session->arrivals || membership_alive(session);
}

int session_mark(struct session *session, const char *label, struct error *error)
{
    struct segment *segment = session->segment;

    if (segment->mark_count == TIME_MARKS_MAX)
        return error_set(error, ERROR_FAILED, "a recording has at most %d marks", TIME_MARKS_MAX);
    segment->mark_count++;
    time_marks_add(&segment->marks,
                   &(struct time_mark){.time = clock_ns(CLOCK_MONOTONIC),
                                       .label = profile_string_z(segment->profile, label)});
    return 0;
}

void session_mark_finding(struct session *session, const char *label)
{
    char cut[TIME_MARK_LABEL_MAX + 1], *clean = utf8_clean_string(label);
    struct error too_many;

    utf8_copy(cut, sizeof(cut), clean);
    free(clean);
    (void)session_mark(session, cut, &too_many);
}

pid_t session_take_ended(struct session *session)
{
    pid_t ended = session_alive(session) ? session->ended : 0;

    session->ended = 0;
    return ended;
}

const char *session_look(struct session *session, bool may_fire)
{
    return trigger_watch_look_all(session->targets, may_fire, session->segment->profile,
                                  &session->fired)
               ? session->fired.data
               : NULL;
}

struct session_status session_status(const struct session *session)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct session_status status = {
        .seconds = (double)(now - session->first_ns) / (double)SECOND,
        .segment_ns = now - session->segment->begin,
        .segment_bytes =
            session->segment->writer ? recording_writer_size(session->segment->writer) : 0,
        .samples = session->samples + session->segment->totals.samples,
        .lost = session->lost + programs_lost(session->programs),
        .busiest = session->busiest.name,
        .busiest_share = session->busiest.share,
    };

    for (int i = 0; i < LOSS_COUNT; i++)
        status.losses[i] = session->losses[i] + session->segment->totals.losses[i];
    return status;
}

const struct profile *session_profile(const struct session *session)
{
    return session->segment->profile;
}

/* Process the samples that the kernel still holds, and complete the counts. */
static int take_rest(struct session *session, struct error *error)
{
    event_samples_end(session->events, session->segment);
    if (programs_poll(session->programs, 0, take, session, error) < 0)
        return -1;
    presence_step(&session->presence, clock_ns(CLOCK_MONOTONIC), &session->segment->spans);
    if (session->write_result)
        return failed_write(session, error);
    if (!session->stopped && !session->paused)
        session_look_at_all(session);
    node_watches_step(session->targets, session->segment, true);
    if (settle_cpu_time(session, true, error) || put_threads(session, error) ||
        event_samples_release(session->events, session->segment, error) ||
        walls_end(session->targets, session->stopped || session->paused, session->segment, error) ||
        call_events_end_segment(session->calls, session->segment, error))
        return -1;
    return put_summaries(session, error);
}

int session_end(struct session *session, int *ret_fd, struct error *error)
{
    struct error rest_error, guard_error;
    int guard = check_clock(session, &guard_error);
    int rest = take_rest(session, &rest_error), finished;

    debug_fetch_step();
    name_late(session);
    finished = segment_finish(session->segment, programs_lost(session->programs), ret_fd, error);

    busiest_note(&session->busiest, session->segment->profile);
    if (rest || guard)
        *error = rest ? rest_error : guard_error;
    return rest || guard ? -1 : finished;
}

void session_stop(struct session *session)
{
    session->stopped = true;
    membership_note_ends(session);
    call_events_stop(session->calls);
    if (session->sampler) {
        sampler_stop(session->sampler);
        for (size_t i = 0; i < session->targets->count; i++)
            if (session->targets->of[i]->cpu_time)
                vm_cpu_time_stop(session->targets->of[i]->cpu_time);
    }
    session_look_at_all(session);
    event_samples_stop(session->events);
}
