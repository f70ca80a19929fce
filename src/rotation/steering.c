// SPDX-License-Identifier: Apache-2.0
#include "rotation/steering.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/control_socket.h"
#include "util/alloc.h"
#include "util/utf8.h"

enum { TARGETS_SHOWN = 50 };

struct steering {
    struct control_socket *control; /* NULL: none */
    const struct targets *targets;
    const char *command_line;
    time_t since; /* seconds since 1970 */
    bool ends;    /* a request has ended the recording */
};

/* What a request is applied to, and what is answered. */
struct steering_request {
    struct steering *steering;
    struct session *session;
    enum recorder_state state;
    struct buffer answer;
};

struct steering *steering_new(const struct targets *targets, const char *command_line)
{
    struct steering *steering = xcalloc(1, sizeof(*steering));

    *steering =
        (struct steering){.targets = targets, .command_line = command_line, .since = time(NULL)};
    return steering;
}

void steering_free(struct steering *steering)
{
    if (!steering)
        return;
    steering_close(steering);
    free(steering);
}

int steering_listen(struct steering *steering, const char *folder, struct error *error)
{
    steering->control = control_socket_open(folder, error);
    return steering->control ? 0 : -1;
}

void steering_close(struct steering *steering)
{
    control_socket_close(steering->control);
    steering->control = NULL;
}

/* ---- requests ---- */

static void put_targets(struct buffer *answer, const struct targets *targets)
{
    size_t running = 0;

    buffer_text(answer, "VMs:");
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->of[i]->ended)
            continue;
        if (running++ < TARGETS_SHOWN)
            buffer_format(answer, " %d", (int)targets->of[i]->vm->pid);
    }
    if (running > TARGETS_SHOWN)
        buffer_format(answer, " and %zu more", running - TARGETS_SHOWN);
    else if (!running)
        buffer_text(answer, " none");
}

/* The first line is a summary, for lists. */
static void put_status(struct steering_request *request)
{
    static const char *const words[] = {[RECORDER_WAITS] = "waiting for a trigger",
                                        [RECORDER_FIRED] = "recording what a trigger began",
                                        [RECORDER_RECORDS] = "recording"};
    const struct steering *steering = request->steering;
    struct session_status status = session_status(request->session);
    char since[64], *command = utf8_clean_string(steering->command_line);
    struct tm local;

    strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S %z", localtime_r(&steering->since, &local));
    buffer_format(&request->answer, "%s for %.0f s: %llu samples, %llu lost\nsince: %s\n",
                  words[request->state], status.seconds, (unsigned long long)status.samples,
                  (unsigned long long)status.lost, since);
    put_targets(&request->answer, steering->targets);
    buffer_format(&request->answer, "\ncommand: %s", command);
    free(command);
}

static void end_recording(struct steering_request *request)
{
    request->steering->ends = true;
    buffer_text(&request->answer, "the recording ends");
}

static const struct steering_command {
    const char *name;
    void (*run)(struct steering_request *request);
} steering_commands[] = {
    {"status", put_status},
    {"stop", end_recording},
};

static const struct steering_command *find_command(const char *text)
{
    for (size_t i = 0; i < sizeof(steering_commands) / sizeof(*steering_commands); i++)
        if (!strcmp(steering_commands[i].name, text))
            return &steering_commands[i];
    return NULL;
}

static void answer(struct steering_request *request, const char *text)
{
    const struct steering_command *command = find_command(text);

    if (command)
        command->run(request);
    else
        buffer_text(&request->answer,
                    "the recorder is another release of beamflame, without this command");
    buffer_byte(&request->answer, '\0');
    control_socket_answer(request->steering->control, command != NULL, request->answer.data);
    buffer_free(&request->answer);
}

bool steering_step(struct steering *steering, struct session *session, enum recorder_state state)
{
    const char *text;

    if (!steering || !steering->control)
        return false;
    while (!steering->ends && (text = control_socket_take(steering->control))) {
        struct steering_request request = {
            .steering = steering, .session = session, .state = state};

        answer(&request, text);
    }
    return steering->ends;
}
