// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_session.h"
#include "agent/agent_status.h"
#include "agent/agent_triggers.h"
#include "agent/child_memory.h"
#include "agent/first_interval.h"
#include "agent/host_lock.h"
#include "agent/name_numbers.h"
#include "agent/roster.h"
#include "agent/services.h"
#include "agent/spool.h"
#include "os/child.h"
#include "os/precedence.h"
#include "os/privileges.h"
#include "rotation/recorder.h"
#include "session/session.h"
#include "session/targets.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/memory_limit.h"
#include "util/random.h"

enum {
    NODES_LEAST = 256,       /* there is room for so many at once */
    SPOOL_LOOKS_APART = 200, /* times as long as a look takes */
    STEADY_SECONDS = 10,     /* of recording without an error */
    NICE = -10,              /* after the threads that end windows of probes */
    STEP_MS = 400,           /* steps of 100 ms would take a fourth more CPU time */
};

static const uint64_t SECOND = 1000000000;

struct agent {
    const struct agent_options *options;
    struct rotation_reports reports; /* as in the options, but with the agent's `progress` */
    struct agent_status *status;
    struct roster *roster;
    struct services services;
    struct targets targets;
    uint64_t looked;          /* CLOCK_MONOTONIC: of the last look at the spool and the services */
    uint64_t next_spool_look; /* the earliest */
    uint64_t failed;          /* CLOCK_MONOTONIC: when the spool could not be written; 0: it can */
    struct spool_glance spool;
    uint64_t unrecorded_since; /* CLOCK_MONOTONIC; 0: VMs are recorded, or were not yet */
    struct agent_triggers triggers;
    struct agent_session session;
    struct recorder_options recorder;
    volatile int ends_session; /* the agent ends, or records with other options from now on */
    bool records_anew;         /* the latter */
};

int agent_check(const struct agent_config *config, struct error *error)
{
    struct agent_triggers triggers = {.spool = NULL};
    struct agent_session session = {.events = NULL};
    int result = agent_session_set(&session, config, &triggers, NULL, error);

    agent_session_free(&session);
    agent_triggers_free(&triggers);
    return result;
}

/* ---- spool ---- */

struct spool_look {
    const struct agent *agent;
    struct name_numbers *sent[SERVICES_MAX]; /* of each service */
};

/* Report a recording that leaves the spool before each service has it. */
static void note_removed(void *context, const char *name)
{
    struct spool_look *look = context;

    for (size_t i = 0; i < look->agent->services.count; i++) {
        const struct service *service = &look->agent->services.of[i];

        if (name_numbers_get(look->sent[i], name) == SIZE_MAX)
            continue;
        service->status->dropped++;
        look->agent->reports.warn("service %s never got %s, which the spool can't keep any longer",
                                  service->push.name, name);
    }
}

/* Count the recordings that a service does not have. */
static uint64_t count_waiting(struct name_numbers *sent, const struct spool_list *list)
{
    uint64_t waiting = 0;

    for (size_t i = 0; i < list->count; i++)
        waiting += name_numbers_get(sent, list->of[i].name) != SIZE_MAX;
    return waiting;
}

/* Open what services have. */
static struct spool_look look_of(const struct agent *agent)
{
    struct spool_look look = {.agent = agent};

    for (size_t i = 0; i < agent->services.count; i++)
        look.sent[i] = name_numbers_open(agent->services.directory, agent->services.of[i].push.name,
                                         SPOOL_SENT);
    return look;
}

static void end_look(struct spool_look *look)
{
    for (size_t i = 0; i < look->agent->services.count; i++)
        name_numbers_free(look->sent[i]);
}

static void count_spool(const struct agent *agent, struct name_numbers *const *sent)
{
    struct spool_list list;
    struct error ignored; /* the next recording fails by it, and is reported */
    uint64_t bytes = 0;

    if (spool_list(agent->services.directory, &list, &ignored))
        return;
    for (size_t i = 0; i < list.count; i++)
        bytes += list.of[i].bytes;
    agent->status->spool_bytes = bytes;
    agent->status->spool_recordings = list.count;
    for (size_t i = 0; i < agent->services.count; i++)
        agent->services.of[i].status->waiting = count_waiting(sent[i], &list);
    spool_list_free(&list);
}

/* The time that a look takes grows with the spool: it is the less often, then. */
static void look_at_spool(struct agent *agent, uint64_t now)
{
    const struct agent_config *config = agent->options->config;
    struct spool_look look;
    struct error ignored; /* the next recording fails by it, and is reported */

    if (now < agent->next_spool_look ||
        !spool_may_have_changed(agent->services.directory, &agent->spool))
        return;
    look = look_of(agent);
    spool_adopt(agent->services.directory, &ignored);
    spool_note_order(agent->services.directory);
    agent_triggers_take(&agent->triggers, now);
    spool_trim(agent->services.directory, config->spool.max_size, config->spool.max_age,
               note_removed, &look);
    count_spool(agent, look.sent);
    end_look(&look);
    agent->next_spool_look = now + SPOOL_LOOKS_APART * (clock_ns(CLOCK_MONOTONIC) - now);
}

/* Called when a recording can't be written. If the disk is full, remove the oldest recordings until
 * there is room for the next one. Return true if a recording can be tried. */
static bool make_room(void *context, const struct error *problem)
{
    struct agent *agent = context;
    const char *directory = agent->services.directory;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct spool_look look = look_of(agent);
    bool is_full;

    if (!agent->failed)
        agent->reports.warn("recording pauses, and is tried again each second: %s", problem->text);
    agent->failed = now;
    while ((is_full = spool_is_full(directory)) &&
           spool_remove_oldest(directory, note_removed, &look))
        ;
    end_look(&look);
    return !is_full;
}

/* A disk that is nearly full may have room for the beginning of a recording only. */
static void note_room(struct agent *agent, enum recorder_state state, uint64_t now)
{
    agent->status->paused = state == RECORDER_PAUSED;
    if (!agent->failed || state == RECORDER_PAUSED || now - agent->failed < STEADY_SECONDS * SECOND)
        return;
    agent->failed = 0;
    agent->options->say("recording continues");
}

/* Count the time in which nothing is recorded. */
static void note_gap(struct agent *agent, enum recorder_state state, uint64_t now)
{
    if (agent->unrecorded_since)
        agent->status->unrecorded_ns += now - agent->unrecorded_since;
    agent->unrecorded_since = state == RECORDER_RECORDS ? 0 : now;
}

/* The gap before a session ends when its samples begin. */
static void note_start(struct agent *agent, const struct session *session)
{
    uint64_t begun = clock_ns(CLOCK_MONOTONIC) - (uint64_t)(session_status(session).seconds * 1e9);
    uint64_t since = agent->unrecorded_since;

    note_gap(agent, RECORDER_RECORDS, begun);
    if (since && !agent->failed) /* note_room() reports the end of a pause */
        agent->options->say("recording continues as the configuration says now; %.2f s were not "
                            "recorded",
                            (double)(begun - since) / 1e9);
}

/* Publish the VMs that are not profiled. The list is padded with zeros, so that lists can be
 * compared. */
static void note_refusals(struct agent *agent)
{
    const struct refusals *refused = &agent->targets.refused;
    size_t count = refused->count;
    struct refusal_status *list = xcalloc(count + 1, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        list[i].pid = (uint64_t)refused->of[i].pid;
        list[i].kind = refused->of[i].kind;
        snprintf(list[i].node, sizeof(list[i].node), "%s",
                 refused->of[i].node ? refused->of[i].node : "");
        snprintf(list[i].reason, sizeof(list[i].reason), "%s", refused->of[i].reason);
    }
    agent_status_set_refusals(agent->status, list, count);
    free(list);
}

static void note_session(struct agent *agent, const struct session *session, bool records)
{
    struct session_status now = session_status(session);
    uint64_t nodes = 0;

    for (size_t i = 0; i < agent->targets.count; i++)
        nodes += !agent->targets.of[i]->ended;
    agent->status->nodes = nodes;
    note_refusals(agent);
    agent->status->samples = now.samples;
    agent->status->lost = now.lost;
    agent_status_note(agent->status, session, &agent->session.options, &agent->targets);
    roster_write(agent->roster, &agent->targets, session_profile(session));
    if (records)
        agent->status->recorded_at = clock_ns(CLOCK_BOOTTIME) / SECOND;
}

/* ---- another configuration ---- */

/* The lock and the senders are bound to the directory. */
static void keep_directory(const struct agent *agent, struct agent_config *config)
{
    struct agent_config *now = agent->options->config;
    char *directory = config->spool.directory;

    if (strcmp(directory, now->spool.directory) != 0)
        agent->reports.warn("spool.directory stays %s until the agent is restarted: it can't "
                            "change while the agent runs",
                            now->spool.directory);
    config->spool.directory = now->spool.directory;
    now->spool.directory = directory;
}

/* Let the session follow the configuration, or let another one begin. `records`: it has a segment.
 */
static void follow(struct agent *agent, const struct agent_config *before, struct session *session,
                   bool records)
{
    const struct agent_config *now = agent->options->config;
    struct error error; /* the next session reports what still fails */

    memory_limit_set(now->record.max_memory);
    agent->recorder.loop = agent->triggers.interval = now->record.interval;
    if (agent_session_alike(before, now))
        return;
    if (records && session_notice_ends(session, &error) == 0)
        agent_triggers_look(&agent->triggers, session, &agent->session.options, &agent->targets,
                            clock_ns(CLOCK_MONOTONIC)); /* those of before at VMs that have ended */
    agent->records_anew = !records || !agent_session_may_follow(before, now);
    if (agent->records_anew)
        return;
    agent->records_anew =
        agent_session_follow(&agent->session, before, now, &agent->triggers, session, &error) != 0;
}

/* Read the configuration again. Processes whose configuration is unchanged continue. */
static void reload(struct agent *agent, struct session *session, bool records)
{
    struct agent_config *now = agent->options->config, config, before;
    struct error error;

    if (agent_config_load(agent->options->config_path, &config, &error)) {
        agent->reports.warn("the configuration stays as it was: %s", error.text);
        return;
    }
    if (agent_check(&config, &error)) {
        agent->reports.warn("the configuration stays as it was: %s", error.text);
        agent_config_free(&config);
        return;
    }
    keep_directory(agent, &config);
    before = *now;
    *now = config;
    follow(agent, &before, session, records);
    agent_config_free(&before);
    services_apply(&agent->services, now);
    agent->options->say("the configuration was read again");
}

/* Called several times a second while VMs are recorded. */
static void step(void *context, struct session *session, enum recorder_state state)
{
    struct agent *agent = context;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    note_gap(agent, state, now);
    if (state == RECORDER_ENDS)
        return;
    if (*agent->options->reload) {
        *agent->options->reload = 0;
        reload(agent, session, state == RECORDER_RECORDS);
    }
    agent->ends_session = *agent->options->stop || agent->records_anew;
    if (now - agent->looked < SECOND)
        return;
    agent->looked = now;
    note_room(agent, state, now);
    note_session(agent, session, state == RECORDER_RECORDS);
    if (state == RECORDER_RECORDS)
        agent_triggers_look(&agent->triggers, session, &agent->session.options, &agent->targets,
                            now);
    services_look(&agent->services, agent->options->config, now);
    look_at_spool(agent, now);
}

/* Called in the process that completes a recording. */
static void note_wrote(void *context, const char *path)
{
    const struct agent *agent = context;

    (void)path;
    agent->status->segments++;
}

/* ---- recording ---- */

static int record(struct agent *agent, struct error *error)
{
    const struct agent_config *config = agent->options->config;
    char *path = spool_recording_path(config->spool.directory);
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    const struct segment_files files = {
        .recording = path, .settings = &settings, .temporary = agent->options->temporary};
    struct rotation *rotation;
    struct session *session;
    char host[256] = "";
    int result = -1;

    gethostname(host, sizeof(host) - 1);
    session = session_start(&agent->session.options, &agent->targets, agent->options->command_line,
                            clock_ns(CLOCK_MONOTONIC), error);
    if (session) {
        note_start(agent, session);
        rotation = rotation_new(&files, &agent->session.options, host, &agent->reports);
        result =
            recorder_run_segments(session, &agent->recorder, &agent->ends_session, rotation, error);
        session_free(session);
        rotation_finish(rotation);
    }
    free(path);
    return result;
}

/* Return the result of a recording. If another configuration ended it, its end may fail: the error
 * is reported, and the next recording waits for room. */
static int end_of_part(const struct agent *agent, int result, const struct error *error)
{
    const struct rotation_reports *reports = &agent->reports;

    if (!result || !agent->records_anew || *agent->options->stop)
        return result;
    reports->failed(reports->context, error);
    return 0;
}

/* Record with the options of the configuration, until the agent ends or these change. */
static int open_and_record(struct agent *agent, struct error *error)
{
    const struct agent_config *config = agent->options->config;
    struct target_options options = {
        .all = true, .may_be_none = true, .room = NODES_LEAST, .warn = agent->reports.warn};
    int result;

    memory_limit_set(config->record.max_memory);
    agent->recorder.loop = config->record.interval;
    agent->recorder.first_loop = first_interval(config->record.interval, random_word());
    agent->records_anew = false;
    agent->ends_session = 0;
    if (agent_session_set(&agent->session, config, &agent->triggers, agent->reports.warn, error))
        return -1;
    options.rules = agent->session.rules.of;
    options.rule_count = agent->session.rules.count;
    if (targets_open(&options, &agent->targets, error))
        return -1;
    result = end_of_part(agent, record(agent, error), error);
    targets_close(&agent->targets);
    return result;
}

/* A sample takes several switches to processes that read ELF files. On a host whose CPUs are all
 * busy, each would wait until all others had their turn, and recordings would end minutes late. */
static void take_precedence(void)
{
    int code = precedence_take_if_default(NICE);

    if (code)
        log_decision("agent", "it has no precedence over other processes: %s", strerror(code));
}

static int run(struct agent *agent, struct error *error)
{
    int result;

    agent->status->started_at = (uint64_t)time(NULL);
    child_memory_look();
    privileges_record_always();
    if (child_check_room(error))
        return -1;
    services_apply(&agent->services, agent->options->config);
    look_at_spool(agent, clock_ns(CLOCK_MONOTONIC)); /* it may fill the disk */
    take_precedence();
    do
        result = open_and_record(agent, error);
    while (!result && agent->records_anew && !*agent->options->stop);
    agent->next_spool_look = 0;
    look_at_spool(agent, clock_ns(CLOCK_MONOTONIC)); /* triggers keep the last recording */
    services_end(&agent->services);
    return result;
}

static int lock_and_run(struct agent *agent, struct error *error)
{
    const struct agent_config *config = agent->options->config;
    int lock = spool_open(config->spool.directory, error), host = -1, result = -1;

    if (lock < 0)
        return -1;
    if (!config->record.beside_others)
        host = host_lock_take(agent->reports.warn, error);
    if (host >= 0 || config->record.beside_others)
        result = run(agent, error);
    if (host >= 0)
        close(host);
    close(lock);
    return result;
}

int agent_run(const struct agent_options *options, struct error *error)
{
    struct agent agent = {
        .options = options,
        .reports = *options->reports,
        .status = agent_status_new(error),
        .recorder = {.reports = &agent.reports, .step_ms = STEP_MS},
    };
    int result = -1;

    agent.reports.context = &agent;
    agent.reports.progress = step;
    agent.reports.wrote = note_wrote;
    agent.reports.make_room = make_room;
    agent.services = (struct services){.directory = options->config->spool.directory,
                                       .status = agent.status,
                                       .warn = options->reports->warn,
                                       .log_file = options->reports->log_file};
    agent.triggers =
        (struct agent_triggers){.spool = options->config->spool.directory,
                                .counts = agent.status ? &agent.status->triggers : NULL,
                                .warn = options->reports->warn,
                                .say = options->say};
    if (agent.status)
        agent.roster = roster_new(&agent.services.roster, error);
    if (agent.roster) {
        result = lock_and_run(&agent, error);
        close(agent.services.roster);
    }
    roster_free(agent.roster);
    agent_status_free(agent.status);
    agent_session_free(&agent.session);
    agent_triggers_free(&agent.triggers);
    return result < 0 ? -1 : 0;
}
