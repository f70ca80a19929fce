// SPDX-License-Identifier: Apache-2.0
/* `beamflame agent`: records all VMs all the time, and sends profiles to services. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/verbose.h"
#include "native/memory.h"
#include "util/alloc.h"
#include "util/stop.h"

struct agent_arguments {
    const char *config; /* path; NULL: none */
    bool check, print;
};

static const struct command_option agent_list[] = {
    {"config", 'c', "FILE", "Read this configuration. Without it, nothing is sent anywhere.",
     option_set_text, NULL, offsetof(struct agent_arguments, config)},
    {"check", 0, NULL, "Check the configuration, and end.", option_set_true, NULL,
     offsetof(struct agent_arguments, check)},
    {"print-config", 0, NULL,
     "Print the configuration that is in force, and where each value is from, and end.",
     option_set_true, NULL, offsetof(struct agent_arguments, print)},
    {0},
};

static const struct option_group agent_groups[] = {
    {"Configuration", agent_list, 0},
    VERBOSE_OPTION_GROUP,
    {0},
};

static void report_failed(void *context, const struct error *error)
{
    (void)context;
    message_error(error);
}

static void report_empty(void *context, const struct output_empty *empty)
{
    (void)context;
    (void)empty;
}

static void say_held(pid_t pid)
{
    struct error error;

    error_set(&error, ERROR_UNSUPPORTED,
              "process %d holds back its memory while it is read: the agent ends", (int)pid);
    message_error(&error);
}

static int print_config(const struct agent_config *config)
{
    struct buffer text = {0};
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&data, &size);

    config_print(config, file);
    fclose(file);
    buffer_put(&text, data, size);
    message_print_own(&text);
    buffer_free(&text);
    free(data);
    return message_finish("the configuration");
}

static volatile int reload_requested;

static void request_reload(int signal_number)
{
    (void)signal_number;
    reload_requested = 1;
}

static int record_all(struct agent_config *config, const char *path)
{
    const struct rotation_reports reports = {
        .warn = message_warning,
        .failed = report_failed,
        .empty = report_empty,
        .log_file = verbose_file(),
    };
    char *command_line =
        path ? xasprintf("beamflame agent --config %s", path) : xstrdup("beamflame agent");
    const struct agent_options options = {
        .config = config,
        .config_path = path,
        .reports = &reports,
        .command_line = command_line,
        .temporary = temporary_directory(),
        .stop = &stop_requested,
        .reload = &reload_requested,
        .say = message_say,
    };
    struct error error;
    int result;

    alloc_give_back();
    signals_end_recording();
    sigaction(SIGHUP, &(struct sigaction){.sa_handler = request_reload, .sa_flags = SA_RESTART},
              NULL);
    stop_guard_start(say_held);
    message_say("recording all VMs of this host into %s, for %zu service%s",
                config->spool.directory, config->service_count,
                config->service_count == 1 ? "" : "s");
    result =
        agent_run(&options, &error) && error.code != ERROR_INTERRUPTED ? message_error(&error) : 0;
    free(command_line);
    return result;
}

static int run(int argc, char **argv)
{
    struct agent_arguments arguments = {.config = NULL};
    struct agent_config config;
    struct error error;
    int result;

    if (!command_line_parse(&agent_command, argc, argv, &arguments, &result))
        return result;
    if (agent_config_load(arguments.config, &config, &error))
        return message_error(&error);
    if (agent_check(&config, &error))
        result = message_error(&error);
    else if (arguments.print)
        result = print_config(&config);
    else if (arguments.check)
        result = 0;
    else
        result = record_all(&config, arguments.config);
    agent_config_free(&config);
    return result;
}

const struct command agent_command = {
    .name = "agent",
    .summary = "record all VMs of this host all the time, and send profiles to services",
    .description = "Record every VM of this host, from its start to its end, within a small "
                   "budget. The newest "
                   "recordings stay in a spool. Profiles go to the services of the configuration.",
    .groups = agent_groups,
    .examples = "beamflame agent --config /etc/beamflame/agent.yaml\n"
                "beamflame agent --config agent.yaml --check\n",
    .run = run,
};
