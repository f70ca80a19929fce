// SPDX-License-Identifier: Apache-2.0
#include "rotation/steering_status.h"

#include <stdlib.h>
#include <string.h>

#include "os/control_socket.h"
#include "output/json/json.h"
#include "util/utf8.h"

enum {
    TARGETS_SHOWN = 50,
    EVENTS_BYTES = 1536, /* of the names of events in JSON */
};

static size_t count_running(const struct targets *targets)
{
    size_t running = 0;

    for (size_t i = 0; i < targets->count; i++)
        running += !targets->of[i]->ended;
    return running;
}

/* Visit the pids of the first VMs that run. */
static void each_pid(const struct targets *targets, void (*visit)(void *context, pid_t pid),
                     void *context)
{
    size_t shown = 0;

    for (size_t i = 0; i < targets->count && shown < TARGETS_SHOWN; i++) {
        if (targets->of[i]->ended)
            continue;
        visit(context, targets->of[i]->vm->pid);
        shown++;
    }
}

/* ---- text ---- */

static void put_pid(void *text, pid_t pid)
{
    buffer_format(text, " %d", (int)pid);
}

static void put_targets(struct buffer *text, const struct targets *targets)
{
    size_t running = count_running(targets);

    buffer_text(text, "VMs:");
    each_pid(targets, put_pid, text);
    if (running > TARGETS_SHOWN)
        buffer_format(text, " and %zu more", running - TARGETS_SHOWN);
    else if (!running)
        buffer_text(text, " none");
}

void steering_status_events(const struct session_options *options, struct buffer *text)
{
    char *name;

    for (size_t i = 0; (name = session_options_event(options, i)); i++) {
        buffer_format(text, "%s%s", i ? ", " : "", name);
        free(name);
    }
}

void steering_status_text(const struct steering_status *status, struct buffer *text)
{
    static const char *const words[] = {[RECORDER_WAITS] = "waiting for a trigger",
                                        [RECORDER_FIRED] = "recording what a trigger began",
                                        [RECORDER_RECORDS] = "recording",
                                        [RECORDER_PAUSED] = "paused"};
    char since[64], *command = utf8_clean_string(status->command_line);
    struct tm local;

    strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S %z", localtime_r(&status->since, &local));
    buffer_format(text, "%s, %.0f s since the start: %llu samples, %llu lost\nsince: %s\n",
                  words[status->state], status->session.seconds,
                  (unsigned long long)status->session.samples,
                  (unsigned long long)status->session.lost, since);
    put_targets(text, status->targets);
    buffer_text(text, "\nevents: ");
    steering_status_events(status->options, text);
    buffer_format(text, "\ncommand: %s", command);
    free(command);
}

/* ---- JSON ---- */

static void put_pid_json(void *json, pid_t pid)
{
    json_number(json, NULL, (uint64_t)pid);
}

/* As many names as have room in an answer. */
static void put_events_json(struct json *json, const struct session_options *options)
{
    size_t count = 0, size = 0;
    char *name;

    json_open(json, "events", '[');
    for (; (name = session_options_event(options, count)); count++) {
        size += strlen(name);
        if (size < EVENTS_BYTES)
            json_text(json, NULL, name);
        free(name);
    }
    json_close(json, ']');
    json_number(json, "event_count", count);
}

static void put_status(struct json *json, const struct steering_status *status)
{
    static const char *const words[] = {[RECORDER_WAITS] = "waiting",
                                        [RECORDER_FIRED] = "fired",
                                        [RECORDER_RECORDS] = "recording",
                                        [RECORDER_PAUSED] = "paused"};
    char *clean = utf8_clean_string(status->command_line), command[CONTROL_SOCKET_COMMAND];

    utf8_copy(command, sizeof(command), clean);
    free(clean);
    json_open(json, NULL, '{');
    json_text(json, "state", words[status->state]);
    json_decimal(json, "seconds", status->session.seconds, 1);
    json_number(json, "samples", status->session.samples);
    json_number(json, "lost", status->session.lost);
    json_number(json, "since", (uint64_t)status->since);
    json_number(json, "vms", count_running(status->targets));
    json_open(json, "pids", '[');
    each_pid(status->targets, put_pid_json, json);
    json_close(json, ']');
    put_events_json(json, status->options);
    json_text(json, "command", command);
    json_close(json, '}');
}

void steering_status_json(const struct steering_status *status, struct buffer *text)
{
    char *written = NULL;
    size_t size = 0;
    struct json json = {.file = open_memstream(&written, &size)};

    if (!json.file)
        return;
    put_status(&json, status);
    fclose(json.file);
    buffer_put(text, written, size);
    free(written);
}
