// SPDX-License-Identifier: Apache-2.0
#include "rotation/steering.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/control_command.h"
#include "os/control_socket.h"
#include "profile/time_marks.h"
#include "rotation/steering_status.h"
#include "util/alloc.h"
#include "util/steering_signals.h"
#include "util/utf8.h"

struct steering {
    struct control_socket *control; /* NULL: none */
    struct steered_recording recording;
    char **names; /* of events that were added; session options borrow them */
    size_t name_count, name_room;
    time_t since; /* seconds since 1970 */
    bool ends;    /* a request has ended the recording */
    bool failed;  /* an action, with `error` */
    struct error error;
    bool paused;
    unsigned pause_signals, snapshot_signals; /* that were carried out */
};

/* What a request is applied to, and what is answered. */
struct steering_request {
    struct steering *steering;
    struct session *session;
    enum recorder_state state;
    const struct steering_actions *actions;
    const char *argument; /* what follows the command; "": nothing */
    struct buffer answer;
    bool failed; /* the answer says why */
};

struct steering *steering_new(const struct steered_recording *recording)
{
    struct steering *steering = xcalloc(1, sizeof(*steering));

    *steering = (struct steering){.recording = *recording, .since = time(NULL)};
    return steering;
}

void steering_free(struct steering *steering)
{
    if (!steering)
        return;
    steering_close(steering);
    for (size_t i = 0; i < steering->name_count; i++)
        free(steering->names[i]);
    free(steering->names);
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

static void refuse(struct steering_request *request, const char *reason)
{
    request->failed = true;
    buffer_text(&request->answer, reason);
}

static void put_status(struct steering_request *request)
{
    const struct steering *steering = request->steering;
    const struct steering_status status = {.state = request->state,
                                           .session = session_status(request->session),
                                           .since = steering->since,
                                           .targets = steering->recording.targets,
                                           .options = steering->recording.session,
                                           .command_line = steering->recording.command_line};

    if (!strcmp(request->argument, "json"))
        steering_status_json(&status, &request->answer);
    else
        steering_status_text(&status, &request->answer);
}

static void act(struct steering_request *request, int (*action)(void *context, struct error *error),
                const char *done)
{
    struct steering *steering = request->steering;

    steering->failed = action(request->actions->context, &steering->error) != 0;
    if (steering->failed)
        refuse(request, steering->error.text);
    else
        buffer_text(&request->answer, done);
}

static void pause_recording(struct steering_request *request)
{
    if (request->steering->paused) {
        refuse(request, "the recording is paused already");
        return;
    }
    act(request, request->actions->pause, "paused");
    request->steering->paused = true;
}

static void resume_recording(struct steering_request *request)
{
    if (!request->steering->paused) {
        refuse(request, "the recording is not paused");
        return;
    }
    act(request, request->actions->resume, "resumed");
    request->steering->paused = false;
}

static void write_snapshot(struct steering_request *request)
{
    struct error error;
    int result;

    if (!request->actions->snapshot) {
        refuse(request, "a recording with --trigger is written when a trigger fires: it has no "
                        "snapshots");
        return;
    }
    result = request->actions->snapshot(request->actions->context, &error);
    if (!result) {
        buffer_text(&request->answer, "a snapshot is being written");
        return;
    }
    refuse(request, error.text);
    request->steering->failed = result < 0;
    request->steering->error = error;
}

static bool is_label(const char *text)
{
    size_t size = strlen(text);

    return size && size <= TIME_MARK_LABEL_MAX && utf8_is_clean(text, size);
}

static void mark(struct steering_request *request)
{
    struct error error;

    if (request->steering->paused)
        refuse(request, "the recording is paused, and a mark is of the time recorded");
    else if (!is_label(request->argument))
        refuse(request, "a mark has a label: up to 200 bytes of UTF-8 without control characters");
    else if (session_mark(request->session, request->argument, &error))
        refuse(request, error.text);
    else
        buffer_text(&request->answer, "marked");
}

static void end_recording(struct steering_request *request)
{
    request->steering->ends = true;
    buffer_text(&request->answer, "the recording ends");
}

/* ---- events ---- */

static void put_events(struct steering_request *request)
{
    buffer_text(&request->answer, "recorded from now on: ");
    steering_status_events(request->steering->recording.session, &request->answer);
}

/* Put a mark at the time of the change. */
static void mark_change(struct steering_request *request, const char *name, bool is_added)
{
    char *label = xasprintf("event %s %s", name, is_added ? "added" : "removed");

    session_mark_finding(request->session, label);
    free(label);
}

/* Record these events, or those of before if that fails. Return 0, or -1 with error. If not even
 * those can be recorded, the recording ends. */
static int take_events(struct steering_request *request, const struct session_options *wanted,
                       const char *added, struct error *error)
{
    struct steering *steering = request->steering;
    const struct session_options before = *steering->recording.session;

    *steering->recording.session = *wanted;
    if (session_change(request->session, added, error) == 0)
        return 0;
    *steering->recording.session = before;
    if (session_change(request->session, NULL, &steering->error))
        steering->failed = true;
    return -1;
}

/* The recording rests while its events change, as in a pause: what comes before and after is
 * recorded apart. */
static void change_events(struct steering_request *request, const struct session_options *wanted,
                          const char *name, bool is_added)
{
    struct steering *steering = request->steering;
    const struct steering_actions *actions = request->actions;
    struct error refused;
    int result;

    steering->failed = actions->pause(actions->context, &steering->error) != 0;
    if (steering->failed) {
        refuse(request, steering->error.text);
        return;
    }
    result = take_events(request, wanted, is_added ? name : NULL, &refused);
    if (!steering->failed)
        steering->failed = actions->resume(actions->context, &steering->error) != 0;
    if (steering->failed || result) {
        refuse(request, steering->failed ? steering->error.text : refused.text);
        return;
    }
    mark_change(request, name, is_added);
    put_events(request);
}

/* The same name, valid as long as the steering: each is kept once. */
static const char *keep_name(struct steering *steering, const char *name)
{
    for (size_t i = 0; i < steering->name_count; i++)
        if (!strcmp(steering->names[i], name))
            return steering->names[i];
    steering->names = xgrow(steering->names, &steering->name_room, steering->name_count,
                            sizeof(*steering->names));
    steering->names[steering->name_count] = xstrdup(name);
    return steering->names[steering->name_count++];
}

static void change_event(struct steering_request *request, bool is_added)
{
    const struct steered_recording *recording = &request->steering->recording;
    struct session_options wanted = *recording->session;
    const char *name = keep_name(request->steering, request->argument);
    struct error error;

    if (request->steering->paused)
        refuse(request, "the recording is paused: resume it first");
    else if (!session_alive(request->session))
        refuse(request, "the VM has ended");
    else if ((is_added ? session_options_add_another(&wanted, name, &error)
                       : session_options_remove_event(&wanted, name, &error)) ||
             recording->check(recording->context, &wanted, &error))
        refuse(request, error.text);
    else
        change_events(request, &wanted, name, is_added);
}

static void add_event(struct steering_request *request)
{
    change_event(request, true);
}

static void remove_event(struct steering_request *request)
{
    change_event(request, false);
}

static void (*const steering_commands[CONTROL_COMMANDS])(struct steering_request *request) = {
    [CONTROL_STATUS] = put_status,       [CONTROL_PAUSE] = pause_recording,
    [CONTROL_RESUME] = resume_recording, [CONTROL_MARK] = mark,
    [CONTROL_SNAPSHOT] = write_snapshot, [CONTROL_ADD] = add_event,
    [CONTROL_REMOVE] = remove_event,     [CONTROL_STOP] = end_recording,
};

static void answer(struct steering_request *request, const char *text)
{
    enum control_command command = control_command_find(text, &request->argument);

    if (command < CONTROL_COMMANDS)
        steering_commands[command](request);
    else
        refuse(request, CONTROL_COMMAND_UNKNOWN);
    buffer_byte(&request->answer, '\0');
    control_socket_answer(request->steering->control, !request->failed, request->answer.data);
    buffer_free(&request->answer);
}

/* Snapshots that were requested before the last one was begun are one. */
static void follow_snapshot_signals(struct steering_request request)
{
    struct steering *steering = request.steering;
    unsigned signals = steering_signals_snapshot;

    if (steering->failed || steering->snapshot_signals == signals)
        return;
    steering->snapshot_signals = signals;
    write_snapshot(&request);
    buffer_byte(&request.answer, '\0');
    if (request.failed && !steering->failed)
        request.actions->warn("no snapshot is written: %s", request.answer.data);
    buffer_free(&request.answer);
}

/* A signal pauses, the next one resumes. */
static void follow_pause_signals(struct steering_request request)
{
    struct steering *steering = request.steering;

    while (!steering->failed && steering->pause_signals != steering_signals_pause) {
        steering->pause_signals++;
        (steering->paused ? resume_recording : pause_recording)(&request);
    }
    buffer_free(&request.answer);
}

int steering_step(struct steering *steering, struct session *session, enum recorder_state state,
                  const struct steering_actions *actions, struct error *error)
{
    struct steering_request request = {
        .steering = steering, .session = session, .state = state, .actions = actions};
    const char *text;

    if (!steering)
        return 0;
    follow_pause_signals(request);
    follow_snapshot_signals(request);
    while (!steering->ends && !steering->failed && steering->control &&
           (text = control_socket_take(steering->control))) {
        struct steering_request own = request;

        if (steering->paused)
            own.state = RECORDER_PAUSED;
        answer(&own, text);
    }
    if (steering->failed)
        *error = steering->error;
    return steering->failed ? -1 : steering->ends;
}
