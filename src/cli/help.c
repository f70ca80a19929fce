// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/terminal.h"
#include "util/alloc.h"

/* Columns. */
enum {
    WIDTH_DEFAULT = 80,
    WIDTH_MIN = 50,
    WIDTH_MAX = 100,
    OPTION_INDENT = 2,
    TEXT_INDENT = 28,
};

static int text_width(void)
{
    int width = terminal_width(STDOUT_FILENO);

    if (!width)
        width = WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Append text in lines of at most `width` columns, those after the first one indented. `column` is
 * where the first one begins. */
static void put_wrapped(struct buffer *out, const char *text, int column, int indent, int width)
{
    bool begins = true;

    while (*text) {
        int size = (int)strcspn(text, " ");

        if (!begins && column + 1 + size > width) {
            buffer_format(out, "\n%*s", indent, "");
            column = indent;
        } else if (!begins) {
            buffer_byte(out, ' ');
            column++;
        }
        buffer_put(out, text, (size_t)size);
        column += size;
        begins = false;
        text += size;
        text += strspn(text, " ");
    }
    buffer_byte(out, '\n');
}

/* "  -F, --frequency=HZ". Returns how many columns it takes. */
static int put_option_name(struct buffer *out, const struct command_option *option)
{
    size_t before = out->size;

    buffer_format(out, "%*s", OPTION_INDENT, "");
    if (option->letter)
        buffer_format(out, "-%c, ", option->letter);
    else
        buffer_text(out, "    ");
    buffer_format(out, "--%s", option->name);
    if (option->argument)
        buffer_format(out, "=%s", option->argument);
    return (int)(out->size - before);
}

static void put_option(struct buffer *out, const struct command_option *option, int width)
{
    int column = put_option_name(out, option);
    char *text = option->values ? xasprintf("%s One of: %s.", option->help, option->values())
                                : xstrdup(option->help);

    if (column + 2 > TEXT_INDENT)
        buffer_format(out, "\n%*s", TEXT_INDENT, "");
    else
        buffer_format(out, "%*s", TEXT_INDENT - column, "");
    put_wrapped(out, text, TEXT_INDENT, TEXT_INDENT, width);
    free(text);
}

static void put_options(struct buffer *out, const struct command *command, int width)
{
    for (const struct option_group *group = command->groups; group && group->title; group++) {
        if (*group->title)
            buffer_format(out, "\n%s:\n", group->title);
        for (const struct command_option *option = group->options; option->name; option++)
            put_option(out, option, width);
    }
}

static void put_indented_lines(struct buffer *out, const char *text)
{
    while (*text) {
        int size = (int)strcspn(text, "\n");

        buffer_format(out, "%*s%.*s\n", OPTION_INDENT, "", size, text);
        text += size + (text[size] == '\n');
    }
}

/* All but the usage line. */
static void put_body(struct buffer *out, const struct command *command, int width)
{
    put_options(out, command, width);
    if (command->notes) {
        buffer_byte(out, '\n');
        command->notes(out);
    }
    if (command->examples) {
        buffer_text(out, "\nExamples:\n");
        put_indented_lines(out, command->examples);
    }
}

/* Returns the exit code. */
static int print(struct buffer *out)
{
    message_print_own(out);
    buffer_free(out);
    return message_finish("the help");
}

int help_print(const struct command *command)
{
    struct buffer out = {0};
    int width = text_width();

    buffer_format(&out, "Usage: beamflame %s%s%s%s\n\n", command->name,
                  command->groups ? " [OPTION...]" : "", command->arguments ? " " : "",
                  command->arguments ? command->arguments : "");
    put_wrapped(&out, command->description, 0, 0, width);
    put_body(&out, command, width);
    return print(&out);
}

/* Help of the whole program: the commands, and the default one. Returns the exit code. */
static int print_overview(void)
{
    const struct command *record = commands[0];
    struct buffer out = {0};
    int width = text_width();

    buffer_text(&out, "Usage: beamflame [OPTION...] [-- COMMAND [ARG...]]\n"
                      "       beamflame COMMAND [OPTION...] [ARG...]\n\n"
                      "Profile Erlang VMs from outside.\n\nCommands:\n");
    for (const struct command *const *command = commands; *command; command++) {
        buffer_format(&out, "  %-12s", (*command)->name);
        put_wrapped(&out, (*command)->summary, 14, 14, width);
    }
    buffer_text(&out, "\nWithout a command, beamflame records:\n");
    put_body(&out, record, width);
    buffer_text(&out, "\n'beamflame help COMMAND' shows the options of a command, "
                      "'beamflame --version' the version.\n");
    return print(&out);
}

/* ---- the command ---- */

struct help_options {
    const struct command *command; /* NULL: all */
    bool man;
};

static int take_arguments(void *target, char **arguments, bool after_dashes, struct error *error)
{
    struct help_options *options = target;

    (void)after_dashes;
    if (!arguments[0])
        return 0;
    if (arguments[1])
        return error_set(error, ERROR_USAGE, "help takes one command");
    options->command = command_find(arguments[0]);
    if (!options->command)
        return error_set(error, ERROR_USAGE, "there is no command '%s'", arguments[0]);
    return 0;
}

static int run(int argc, char **argv)
{
    struct help_options options = {0};
    int result;

    if (!command_line_parse(&help_command, argc, argv, &options, &result))
        return result;
    if (options.man) {
        struct buffer out = {0};

        man_page(options.command, &out);
        return print(&out);
    }
    return options.command ? help_print(options.command) : print_overview();
}

static const struct command_option option_list[] = {
    {"man", 0, NULL, "Print the manual page as roff source: beamflame help --man record | man -l -",
     option_set_true, NULL, offsetof(struct help_options, man)},
    {0},
};

static const struct option_group groups[] = {{"Options", option_list, 0}, {0}};

const struct command help_command = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "show the options of a command",
    .description = "Show the options of a command, or all commands.",
    .groups = groups,
    .words = completion_commands,
    .take_arguments = take_arguments,
    .run = run,
};
