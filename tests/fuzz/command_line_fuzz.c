// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a command line and variables of the environment (libFuzzer). The first byte selects
 * the command, from '0'. Each line of the rest is one argument, or the value of a variable
 * ("COLUMNS=80").
 *
 * What a command prints is thrown away, and no log is opened: the linker puts the functions
 * __wrap_NAME in the place of NAME (FUZZ_WRAPPED in the Makefile).
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/verbose.h"
#include "os/user.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/log.h"

enum { ARGUMENTS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* ---- what is printed, or outside of the program ---- */

int __wrap_message_usage(const char *command, const struct error *error);
void __wrap_message_warning(const char *format, ...);
void __wrap_message_print_own(const struct buffer *text);
void __wrap_log_listen(enum log_level level, log_sink sink);
int __wrap_file_place_append(const char *path, struct error *error);
int __wrap_regcomp(regex_t *pattern, const char *text, int flags);
int __real_regcomp(regex_t *pattern, const char *text, int flags);

int __wrap_message_usage(const char *command, const struct error *error)
{
    check(command && error->text[0]);
    return ERROR_USAGE;
}

void __wrap_message_warning(const char *format, ...)
{
    check(format);
}

void __wrap_message_print_own(const struct buffer *text)
{
    check(text->size > 0);
}

void __wrap_log_listen(enum log_level level, log_sink sink)
{
    check(level <= LOG_DETAIL && sink);
}

int __wrap_file_place_append(const char *path, struct error *error)
{
    check(path != NULL);
    return error_set(error, ERROR_FAILED, "not while fuzzing");
}

/* glibc compiles repetitions of repetitions for ever. */
int __wrap_regcomp(regex_t *pattern, const char *text, int flags)
{
    return strpbrk(text, "*+?{") ? REG_BADRPT : __real_regcomp(pattern, text, flags);
}

/* ---- commands ---- */

static void parse_record(int count, char **arguments)
{
    struct record_options options;
    int code;

    record_options_init(&options);
    if (command_line_parse(&record_command, count, arguments, &options, &code)) {
        check(options.targets.pid_count == 0 || !options.targets.all);
        check(options.session.cpu || options.session.wall || options.session.event_count ||
              options.session.function_count);
        check(options.session.function_count <= WIRE_CALL_FUNCTIONS);
        check(options.session.event_count <= EVENTS_MAX && options.output.count <= OUTPUTS_MAX);
        check(options.session.budget > 0 && options.session.budget <= 1);
        check(options.session.frequency > 0 && options.recorder.before >= 0);
    }
    record_options_free(&options);
}

static void parse_report(int count, char **arguments)
{
    struct report_options options = {0};
    int code;

    if (command_line_parse(&report_command, count, arguments, &options, &code))
        check(options.path_count > 0 && options.output.count <= OUTPUTS_MAX);
    report_options_free(&options);
}

static void parse_diff(int count, char **arguments)
{
    struct diff_options options = {.report.output.compares = true};
    int code;

    if (command_line_parse(&diff_command, count, arguments, &options, &code))
        check(options.report.path_count == 2);
    report_options_free(&options.report);
}

/* The options of other commands are known to these alone: they parse them, and end then. */

bool __wrap_command_line_parse(const struct command *command, int argc, char **argv, void *options,
                               int *ret_code);
bool __real_command_line_parse(const struct command *command, int argc, char **argv, void *options,
                               int *ret_code);

static bool only_prints(const struct command *command)
{
    return command == &help_command || command == &completion_command;
}

static bool has_parser(const struct command *command)
{
    return command == &record_command || command == &report_command || command == &diff_command;
}

bool __wrap_command_line_parse(const struct command *command, int argc, char **argv, void *options,
                               int *ret_code)
{
    bool parsed = __real_command_line_parse(command, argc, argv, options, ret_code);

    check(parsed || *ret_code == 0 || *ret_code == ERROR_USAGE);
    if (!parsed || has_parser(command) || only_prints(command))
        return parsed;
    *ret_code = 0;
    return false;
}

static void parse_other(const struct command *command, int count, char **arguments)
{
    int code = command->run(count, arguments);

    check(code == 0 || code == ERROR_USAGE);
}

static void parse(unsigned number, int count, char **arguments)
{
    static void (*const parsers[])(int count, char **arguments) = {parse_record, parse_report,
                                                                   parse_diff};
    static const struct command *const others[] = {
        &dump_command, &calls_command,  &ps_command,   &probes_command,
        &ctl_command,  &doctor_command, &help_command, &completion_command};
    enum {
        PARSERS = sizeof(parsers) / sizeof(*parsers),
        OTHERS = sizeof(others) / sizeof(*others)
    };

    number %= PARSERS + OTHERS;
    if (number < PARSERS)
        parsers[number](count, arguments);
    else
        parse_other(others[number - PARSERS], count, arguments);
}

/* ---- the environment ---- */

static const char *const variables[] = {"BEAMFLAME_LOG", "COLUMNS",    "SUDO_UID",
                                        "SUDO_GID",      "PKEXEC_UID", "DOAS_USER"};
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

static bool set_variable(const char *line)
{
    for (int i = 0; i < VARIABLES; i++) {
        size_t length = strlen(variables[i]);

        if (!strncmp(line, variables[i], length) && line[length] == '=')
            return !setenv(variables[i], line + length + 1, 1);
    }
    return false;
}

static void read_environment(void)
{
    struct user user;

    verbose_start(getenv("BEAMFLAME_LOG"));
    if (!user_who_became_root(&user))
        return;
    check(user.uid && user.uid != (uid_t)-1 && user.home && user.shell);
    user_free(&user);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *arguments[ARGUMENTS_MAX], *text, *rest;
    int count = 0;

    if (!size)
        return 0;
    for (int i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]);
    text = rest = xstrndup((const char *)data + 1, size - 1);
    for (char *line; count < ARGUMENTS_MAX && (line = strsep(&rest, "\n"));)
        if (!set_variable(line))
            arguments[count++] = line;
    read_environment();
    parse((uint8_t)(data[0] - '0'), count, arguments);
    free(text);
    return 0;
}
