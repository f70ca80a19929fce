// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_status.h"
#include "agent/http/http_server.h"
#include "agent/sender.h"
#include "agent/sent_list.h"
#include "agent/spool.h"
#include "capture/sample_clock.h"
#include "os/child.h"
#include "os/privileges.h"
#include "rotation/recorder.h"
#include "session/session.h"
#include "session/targets.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/memory_limit.h"

enum {
    NODES_LEAST = 256, /* there is room for so many at once */
    LONG_SLICE_US = 10000,
    RESTART_SECONDS = 10, /* between two starts of a sender that has ended */
};

static const uint64_t SECOND = 1000000000;

struct agent {
    const struct agent_options *options;
    struct rotation_reports reports; /* those of the options, with `progress` of the agent */
    struct sender_options sender_options;
    struct agent_status *status;
    struct http_server http;
    uint64_t http_started;  /* CLOCK_MONOTONIC */
    struct targets targets;
    struct sender *senders;  /* one for each service */
    uint64_t *started;       /* CLOCK_MONOTONIC: of each */
    uint64_t looked;         /* the same: of the last look at the spool and the senders */
    char *events;            /* what the session's requests borrow */
    struct session_options session;
};

/* ---- options ---- */

static int set_session(struct session_options *session, const struct agent_config *config,
                       char *events, warn_function warn, struct error *error)
{
    *session = (struct session_options){
        .clock = clock_event_default(),
        .frequency = config->record.cpu ? config->record.cpu : 1,
        .cpu = config->record.cpu > 0,
        .wall = config->record.wall > 0,
        .wall_frequency = config->record.wall ? config->record.wall : 1,
        .budget = config->record.budget / 100,
        .long_us = LONG_SLICE_US,
        .flush_ns = SECOND,
        .warn = warn,
    };
    return *events ? session_options_add_events(session, events, error) : 0;
}

int agent_check(const struct agent_config *config, struct error *error)
{
    char *events = xstrdup(config->record.events);
    struct session_options session;
    int result = set_session(&session, config, events, NULL, error);

    if (!result && !session.cpu && !session.wall && !session.event_count)
        result = error_set(error, ERROR_USAGE,
                           "nothing is recorded: set record.cpu, record.wall or "
                           "record.events");
    free(events);
    return result;
}

/* ---- senders and spool ---- */

static int start_sender(struct agent *agent, size_t service, struct error *error)
{
    agent->started[service] = clock_ns(CLOCK_MONOTONIC);
    return sender_start(&agent->senders[service], &agent->options->config->services[service],
                        &agent->sender_options, &agent->status->services[service], error);
}

static int start_senders(struct agent *agent, struct error *error)
{
    size_t count = agent->options->config->service_count;

    agent->senders = xcalloc(count + 1, sizeof(*agent->senders));
    agent->started = xcalloc(count + 1, sizeof(*agent->started));
    for (size_t i = 0; i < count; i++)
        if (start_sender(agent, i, error))
            return -1;
    return 0;
}

static void end_senders(struct agent *agent)
{
    if (agent->senders)
        senders_end(agent->senders, agent->options->config->service_count);
    free(agent->senders);
    free(agent->started);
}

static void look_at_senders(struct agent *agent, uint64_t now)
{
    for (size_t i = 0; i < agent->options->config->service_count; i++) {
        struct error error;

        if (!sender_has_ended(&agent->senders[i]) ||
            now - agent->started[i] < RESTART_SECONDS * SECOND)
            continue;
        agent->status->services[i].restarts++;
        agent->reports.warn("the process that sends to service %s has ended, and is started again",
                            agent->options->config->services[i].name);
        if (start_sender(agent, i, &error))
            agent->reports.failed(agent->reports.context, &error);
    }
}

static int start_http(struct agent *agent, struct error *error)
{
    const struct http_server_options options = {
        .config = agent->options->config,
        .status = agent->status,
        .log_file = agent->options->reports->log_file,
    };

    agent->http_started = clock_ns(CLOCK_MONOTONIC);
    return http_server_start(&agent->http, &options, error);
}

static void look_at_http(struct agent *agent, uint64_t now)
{
    struct error error;

    if (!http_server_has_ended(&agent->http) ||
        now - agent->http_started < RESTART_SECONDS * SECOND)
        return;
    agent->status->http_restarts++;
    agent->reports.warn("the process that answers HTTP has ended, and is started again");
    if (start_http(agent, &error))
        agent->reports.failed(agent->reports.context, &error);
}

/* Report a recording that leaves the spool before each service has it. */
static void note_removed(void *context, const char *name)
{
    const struct agent *agent = context;
    const struct agent_config *config = agent->options->config;

    for (size_t i = 0; i < config->service_count; i++) {
        struct sent_list *sent = sent_list_open(config->spool.directory, config->services[i].name);

        if (sent_list_count(sent, name) != SIZE_MAX) {
            agent->status->services[i].dropped++;
            agent->reports.warn("service %s never got %s, which the spool can't keep any longer",
                                config->services[i].name, name);
        }
        sent_list_free(sent);
    }
}

/* Count the recordings that a service does not have. */
static void count_waiting(struct agent *agent, size_t service, const struct spool_list *list)
{
    const struct agent_config *config = agent->options->config;
    struct sent_list *sent =
        sent_list_open(config->spool.directory, config->services[service].name);
    uint64_t waiting = 0;

    for (size_t i = 0; i < list->count; i++)
        waiting += sent_list_count(sent, list->of[i].name) != SIZE_MAX;
    agent->status->services[service].waiting = waiting;
    sent_list_free(sent);
}

static void look_at_spool(struct agent *agent)
{
    const struct agent_config *config = agent->options->config;
    struct spool_list list;
    struct error ignored; /* the next recording fails by it, and is reported */
    uint64_t bytes = 0;

    spool_trim(config->spool.directory, config->spool.max_size, config->spool.max_age, note_removed,
               agent);
    if (spool_list(config->spool.directory, &list, &ignored))
        return;
    for (size_t i = 0; i < list.count; i++)
        bytes += list.of[i].bytes;
    agent->status->spool_bytes = bytes;
    agent->status->spool_recordings = list.count;
    for (size_t i = 0; i < config->service_count; i++)
        count_waiting(agent, i, &list);
    spool_list_free(&list);
}

static void note_session(struct agent *agent, const struct session *session)
{
    struct session_status now = session_status(session);
    uint64_t nodes = 0;

    for (size_t i = 0; i < agent->targets.count; i++)
        nodes += !agent->targets.of[i]->ended;
    agent->status->nodes = nodes;
    agent->status->samples = now.samples;
    agent->status->lost = now.lost;
    agent->status->recorded_at = clock_ns(CLOCK_BOOTTIME) / SECOND;
}

/* Called ten times a second while VMs are recorded. */
static void step(void *context, const struct session *session, enum recorder_state state)
{
    struct agent *agent = context;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (state == RECORDER_ENDS || now - agent->looked < SECOND)
        return;
    agent->looked = now;
    note_session(agent, session);
    look_at_senders(agent, now);
    look_at_http(agent, now);
    look_at_spool(agent);
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
    const struct recorder_options recorder = {.loop = config->record.interval,
                                              .reports = &agent->reports};
    struct rotation *rotation;
    struct session *session;
    char host[256] = "";
    int result = -1;

    gethostname(host, sizeof(host) - 1);
    session = session_start(&agent->session, &agent->targets, agent->options->command_line,
                            clock_ns(CLOCK_MONOTONIC), error);
    if (session) {
        privileges_record(agent->session.event_count > 0, true);
        rotation = rotation_new(&files, &agent->session, host, &agent->reports);
        result = record_segments(session, &recorder, agent->options->stop, rotation, error);
        session_free(session);
        rotation_finish(rotation);
    }
    free(path);
    return result;
}

static int open_and_record(struct agent *agent, struct error *error)
{
    const struct target_options options = {
        .all = true, .may_be_none = true, .room = NODES_LEAST, .warn = agent->reports.warn};
    int result;

    privileges_observe();
    if (child_check_room(error) || start_senders(agent, error) || start_http(agent, error) ||
        targets_open(&options, &agent->targets, error))
        return -1;
    result = record(agent, error);
    targets_close(&agent->targets);
    return result;
}

int agent_run(const struct agent_options *options, struct error *error)
{
    const struct agent_config *config = options->config;
    struct agent agent = {
        .options = options,
        .reports = *options->reports,
        .sender_options = {.directory = config->spool.directory,
                           .warn = options->reports->warn,
                           .log_file = options->reports->log_file},
        .events = xstrdup(config->record.events),
    };
    int lock = -1, result;

    agent.reports.context = &agent;
    agent.reports.progress = step;
    agent.reports.wrote = note_wrote;
    memory_limit_set(config->record.max_memory);
    result = set_session(&agent.session, config, agent.events, options->reports->warn, error);
    if (!result && !(agent.status = agent_status_new(error)))
        result = -1;
    if (!result)
        result = lock = spool_open(config->spool.directory, error);
    if (lock >= 0) {
        agent.status->started_at = (uint64_t)time(NULL);
        look_at_spool(&agent); /* it may fill the disk */
        result = open_and_record(&agent, error);
    }
    end_senders(&agent);
    http_server_end(&agent.http);
    if (lock >= 0)
        close(lock);
    agent_status_free(agent.status);
    free(agent.events);
    return result < 0 ? -1 : 0;
}
