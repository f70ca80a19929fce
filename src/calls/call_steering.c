// SPDX-License-Identifier: Apache-2.0
#include "calls/call_steering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/control_command.h"
#include "os/control_socket.h"
#include "output/json/json.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/utf8.h"

/* Of the names of functions in JSON, where a byte can take two. */
enum { FUNCTIONS_BYTES = 1536 };

struct call_steering {
    struct control_socket *control;
    const char *command_line;
    time_t since; /* seconds since 1970 */
};

/* What a request is applied to, and what is answered. */
struct call_request {
    const struct call_steering *steering;
    struct call_watch *watch;
    const char *argument; /* what follows the command; "": nothing */
    struct buffer answer;
    bool failed;        /* the answer says why */
    int result;         /* of call_steering_step() */
    struct error error; /* if result is -1 */
};

struct call_steering *call_steering_new(const char *folder, const char *command_line,
                                        struct error *error)
{
    struct control_socket *control = control_socket_open(folder, error);
    struct call_steering *steering;

    if (!control)
        return NULL;
    steering = xcalloc(1, sizeof(*steering));
    *steering = (struct call_steering){control, command_line, time(NULL)};
    return steering;
}

void call_steering_free(struct call_steering *steering)
{
    if (!steering)
        return;
    control_socket_close(steering->control);
    free(steering);
}

/* ---- status ---- */

/* Functions come last: they may have no room in an answer. */
static void put_text(const struct call_steering *steering, const struct call_watch_status *status,
                     struct buffer *text)
{
    char since[64], *command = utf8_clean_string(steering->command_line);
    struct tm local;

    strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S %z", localtime_r(&steering->since, &local));
    buffer_format(text, "counting calls, %.0f s since the start: %zu function%s, %llu hits\n",
                  status->seconds, status->count, status->count == 1 ? "" : "s",
                  (unsigned long long)status->hits);
    buffer_format(text, "since: %s\nVMs: %d\ncommand: %s\nfunctions:", since, (int)status->pid,
                  command);
    for (size_t i = 0; i < status->count; i++)
        buffer_format(text, "%s %s", i ? "," : "", status->functions[i]);
    free(command);
}

/* As many names as have room in an answer. */
static void put_functions(struct json *json, const struct call_watch_status *status)
{
    size_t size = 0;

    json_number(json, "function_count", status->count);
    json_open(json, "functions", '[');
    for (size_t i = 0; i < status->count; i++) {
        char *clean = utf8_clean_string(status->functions[i]);

        size += strlen(clean);
        if (size < FUNCTIONS_BYTES)
            json_text(json, NULL, clean);
        free(clean);
    }
    json_close(json, ']');
}

static void put_json(const struct call_steering *steering, const struct call_watch_status *status,
                     struct json *json)
{
    char *clean = utf8_clean_string(steering->command_line), command[CONTROL_SOCKET_COMMAND];

    utf8_copy(command, sizeof(command), clean);
    free(clean);
    json_open(json, NULL, '{');
    json_text(json, "state", "counting");
    json_decimal(json, "seconds", status->seconds, 1);
    json_number(json, "hits", status->hits);
    json_number(json, "since", (uint64_t)steering->since);
    json_number(json, "vms", 1);
    json_open(json, "pids", '[');
    json_number(json, NULL, (uint64_t)status->pid);
    json_close(json, ']');
    put_functions(json, status);
    json_text(json, "command", command);
    json_close(json, '}');
}

static void put_status(struct call_request *request)
{
    struct call_watch_status status = call_watch_status(request->watch);
    char *written = NULL;
    size_t size = 0;
    struct json json = {0};

    if (strcmp(request->argument, "json") != 0) {
        put_text(request->steering, &status, &request->answer);
        return;
    }
    json.file = open_memstream(&written, &size);
    if (!json.file)
        return;
    put_json(request->steering, &status, &json);
    fclose(json.file);
    buffer_put(&request->answer, written, size);
    free(written);
}

/* ---- other requests ---- */

static void refuse(struct call_request *request, const char *reason)
{
    request->failed = true;
    buffer_text(&request->answer, reason);
}

/* Answer what a change of functions has led to. */
static void put_change(struct call_request *request, int result)
{
    struct call_watch_status status;

    if (result)
        refuse(request, request->error.text);
    request->result = result < 0 ? -1 : 0;
    if (result)
        return;
    status = call_watch_status(request->watch);
    buffer_format(&request->answer, "%zu function%s counted now", status.count,
                  status.count == 1 ? " is" : "s are");
    if (status.groups > 1)
        buffer_format(&request->answer,
                      ", in %u groups that take turns: numbers of calls are estimates",
                      status.groups);
}

static void add_function(struct call_request *request)
{
    put_change(request, call_watch_add(request->watch, request->argument, &request->error));
}

static void remove_function(struct call_request *request)
{
    put_change(request, call_watch_remove(request->watch, request->argument, &request->error));
}

static void end_count(struct call_request *request)
{
    request->result = 1;
    buffer_text(&request->answer, "the count ends");
}

static void refuse_sampling(struct call_request *request)
{
    refuse(request, "a count of calls has no pauses, marks and snapshots");
}

static void (*const call_requests[CONTROL_COMMANDS])(struct call_request *request) = {
    [CONTROL_STATUS] = put_status,        [CONTROL_PAUSE] = refuse_sampling,
    [CONTROL_RESUME] = refuse_sampling,   [CONTROL_MARK] = refuse_sampling,
    [CONTROL_SNAPSHOT] = refuse_sampling, [CONTROL_ADD] = add_function,
    [CONTROL_REMOVE] = remove_function,   [CONTROL_STOP] = end_count,
};

static void carry_out(struct call_request *request, const char *text)
{
    enum control_command command = control_command_find(text, &request->argument);

    if (command < CONTROL_COMMANDS)
        call_requests[command](request);
    else
        refuse(request, CONTROL_COMMAND_UNKNOWN);
    buffer_byte(&request->answer, '\0');
    control_socket_answer(request->steering->control, !request->failed, request->answer.data);
    buffer_free(&request->answer);
}

int call_steering_step(struct call_steering *steering, struct call_watch *watch,
                       struct error *error)
{
    int result = 0;
    const char *text;

    while (steering && !result && (text = control_socket_take(steering->control))) {
        struct call_request request = {.steering = steering, .watch = watch};

        carry_out(&request, text);
        result = request.result;
        if (result < 0)
            *error = request.error;
    }
    return result;
}
