// SPDX-License-Identifier: Apache-2.0
/* `beamflame ctl`: steers recordings that run on this host. */
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/verbose.h"
#include "os/control_command.h"
#include "os/control_socket.h"

struct ctl_options {
    pid_t pid;            /* of the recorder; 0: the only one */
    const char *command;  /* NULL: not given */
    const char *argument; /* of the command; NULL: none */
    bool json;
};

static const char LIST[] = "list";

static const struct command_option option_list[] = {
    {"pid", 'p', "PID",
     "Steer the recorder with this process id. The default is the only one that runs.",
     option_set_pid, NULL, offsetof(struct ctl_options, pid)},
    {"json", 'j', NULL, "Print the status as one JSON object.", option_set_true, NULL,
     offsetof(struct ctl_options, json)},
    {0},
};

static const char *name_of(enum control_command command)
{
    return control_command_texts[command].name;
}

static void words(struct buffer *text)
{
    buffer_text(text, LIST);
    for (enum control_command i = 0; i < CONTROL_COMMANDS; i++)
        buffer_format(text, " %s", name_of(i));
}

/* Append the commands that can be written, and what follows them. */
static void put_commands(struct buffer *text)
{
    buffer_text(text, LIST);
    for (enum control_command i = 0; i < CONTROL_COMMANDS; i++) {
        const char *argument = control_command_texts[i].argument;

        buffer_format(text, "%s%s%s%s", i + 1 < CONTROL_COMMANDS ? ", " : " or ", name_of(i),
                      argument ? " " : "", argument ? argument : "");
    }
}

static int bad_command(const char *command, struct error *error)
{
    struct buffer text = {0};

    put_commands(&text);
    error_set(error, ERROR_USAGE, "'%s' is no command for a recording: write %.*s", command,
              (int)text.size, text.data);
    buffer_free(&text);
    return -1;
}

/* Set what the argument of a command is, for users; NULL: it takes none. */
static int find_argument(const char *command, const char **ret_argument, struct error *error)
{
    const char *ignored;
    enum control_command found = control_command_find(command, &ignored);

    *ret_argument = NULL;
    if (!strcmp(command, LIST))
        return 0;
    if (found == CONTROL_COMMANDS || strcmp(name_of(found), command) != 0)
        return bad_command(command, error);
    *ret_argument = control_command_texts[found].argument;
    return 0;
}

static int take_arguments(void *target, char **arguments, bool after_dashes, struct error *error)
{
    struct ctl_options *options = target;
    const char *wanted;

    (void)after_dashes;
    if (!arguments[0])
        return 0;
    if (find_argument(arguments[0], &wanted, error))
        return -1;
    if (wanted && !arguments[1])
        return error_set(error, ERROR_USAGE, "%s needs a %s: beamflame ctl %s %s", arguments[0],
                         wanted, arguments[0], wanted);
    if (arguments[1] && (!wanted || arguments[2]))
        return error_set(error, ERROR_USAGE, "'%s' is too much: put text with blanks in quotes",
                         arguments[wanted ? 2 : 1]);
    options->command = arguments[0];
    options->argument = arguments[1];
    return 0;
}

static int check(void *target, struct error *error)
{
    const struct ctl_options *options = target;

    if (!options->command)
        return bad_command("", error);
    if (options->json && strcmp(options->command, name_of(CONTROL_STATUS)) != 0)
        return error_set(error, ERROR_USAGE, "--json is for status, not for %s", options->command);
    return 0;
}

/* Print each line of an answer. A message cleans what it prints, also line ends. */
static void print_lines(char *text)
{
    char *rest = text, *line;

    while ((line = strsep(&rest, "\n")))
        message_print("%s", line);
}

/* ---- list ---- */

/* A recorder can end meanwhile. */
static void print_recorder(pid_t pid)
{
    struct buffer answer = {0};
    struct error error;

    if (control_socket_ask(CONTROL_SOCKET_FOLDER, pid, name_of(CONTROL_STATUS), &answer, &error)) {
        if (error.code != ERROR_NO_PROCESS)
            message_print("%d  %s", (int)pid, error.text);
    } else {
        buffer_byte(&answer, '\0');
        message_print("%d  %.*s", (int)pid, (int)strcspn(answer.data, "\n"), answer.data);
    }
    buffer_free(&answer);
}

static int list(void)
{
    size_t count;
    pid_t *pids = control_socket_list(CONTROL_SOCKET_FOLDER, &count);

    for (size_t i = 0; i < count; i++)
        print_recorder(pids[i]);
    free(pids);
    return message_finish("the list");
}

/* ---- one recorder ---- */

static int refuse_several(const pid_t *pids, size_t count, struct error *error)
{
    struct buffer text = {0};

    for (size_t i = 0; i < count; i++)
        buffer_format(&text, "%s%d", i ? ", " : "", (int)pids[i]);
    error_set(error, ERROR_USAGE,
              "%zu recordings run on this host: choose one by -p PID, one of %.*s", count,
              (int)text.size, text.data);
    buffer_free(&text);
    return -1;
}

/* Find the only recorder. */
static int find_recorder(pid_t *ret_pid, struct error *error)
{
    size_t count;
    pid_t *pids = control_socket_list(CONTROL_SOCKET_FOLDER, &count);
    int result = 0;

    if (!count)
        result = error_set(error, ERROR_NO_PROCESS, "no recording of this host can be steered");
    else if (count > 1)
        result = refuse_several(pids, count, error);
    else
        *ret_pid = pids[0];
    free(pids);
    return result;
}

static int steer(const struct ctl_options *options, struct error *error)
{
    struct buffer request = {0}, answer = {0};
    pid_t pid = options->pid;
    int result = pid ? 0 : find_recorder(&pid, error);

    buffer_text(&request, options->command);
    if (options->argument)
        buffer_format(&request, " %s", options->argument);
    if (options->json)
        buffer_text(&request, " json");
    buffer_byte(&request, '\0');
    if (!result)
        result = control_socket_ask(CONTROL_SOCKET_FOLDER, pid, request.data, &answer, error);
    if (!result) {
        buffer_byte(&answer, '\0');
        print_lines(answer.data);
    }
    buffer_free(&request);
    buffer_free(&answer);
    return result;
}

static int run(int argc, char **argv)
{
    struct ctl_options options = {0};
    struct error error;
    int result;

    if (!command_line_parse(&ctl_command, argc, argv, &options, &result))
        return result;
    if (!strcmp(options.command, LIST))
        return list();
    return steer(&options, &error) ? message_error(&error) : message_finish("the answer");
}

static void put_note(struct buffer *text, const char *name, const char *argument,
                     const char *summary)
{
    enum { NAME_COLUMNS = 15 };
    int size = (int)strlen(name) + 1;

    buffer_format(text, "  %s %-*s  %s\n", name, NAME_COLUMNS - size, argument ? argument : "",
                  summary);
}

static void notes(struct buffer *text)
{
    buffer_text(text, "Commands:\n");
    put_note(text, LIST, NULL, "list the recordings of this host that can be steered");
    for (enum control_command i = 0; i < CONTROL_COMMANDS; i++)
        put_note(text, name_of(i), control_command_texts[i].argument,
                 control_command_texts[i].summary);
}

static const struct option_group groups[] = {
    {"Options", option_list, 0},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command ctl_command = {
    .name = "ctl",
    .arguments = "COMMAND [ARGUMENT]",
    .summary = "steer a recording that runs",
    .description = "Steer a recording of this host that runs. Only root and the user who runs the "
                   "recording may do so.",
    .groups = groups,
    .examples = "beamflame ctl list\n"
                "beamflame ctl -p PID status\n"
                "beamflame ctl -p PID status --json\n"
                "beamflame ctl mark 'deploy of 1.7'\n"
                "beamflame ctl add gc                       # to a recording\n"
                "beamflame ctl add my_server:handle_call/3  # to a count of calls\n"
                "beamflame ctl stop\n",
    .notes = notes,
    .words = words,
    .take_arguments = take_arguments,
    .check = check,
    .run = run,
};
