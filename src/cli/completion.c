// SPDX-License-Identifier: Apache-2.0
/* `beamflame completion`: scripts that complete command lines in a shell, made from the tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "util/alloc.h"
#include "util/span.h"

/* ---- words ---- */

/* "a, b, c" as words; "bif:MODULE:FUNCTION" only up to the part to fill in: "bif:". */
static void put_values(struct buffer *out, const char *values)
{
    while (*values) {
        size_t size = strcspn(values, ","), fixed = strcspn(values, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        buffer_put(out, values, fixed < size ? fixed : size);
        buffer_byte(out, ' ');
        values += size;
        values += strspn(values, ", ");
    }
}

static bool takes_file(const struct command_option *option)
{
    return option->argument &&
           (!strcmp(option->argument, "FILE") || begins_with(option->argument, "PATH"));
}

static void put_option_words(struct buffer *out, const struct command *command)
{
    struct option_walk walk = {.group = command->groups};

    while (option_walk_next(&walk))
        buffer_format(out, "--%s%s ", walk.option->name, walk.option->argument ? "=" : "");
    buffer_text(out, "--help");
}

void completion_commands(struct buffer *out)
{
    for (const struct command *const *command = commands; *command; command++)
        buffer_format(out, "%s%s", command == commands ? "" : " ", (*command)->name);
}

/* ---- bash ---- */

static void put_bash_values(struct buffer *out, const struct command *command)
{
    struct option_walk walk = {.group = command->groups};

    while (option_walk_next(&walk)) {
        const struct command_option *option = walk.option;

        if (!option->values || takes_file(option))
            continue;
        buffer_format(out, "    %s:--%s", command->name, option->name);
        if (option->letter)
            buffer_format(out, "|%s:-%c", command->name, option->letter);
        buffer_text(out, ") words=\"");
        put_values(out, option->values());
        buffer_text(out, "\" ;;\n");
    }
}

static void put_bash_words(struct buffer *out)
{
    for (const struct command *const *command = commands; *command; command++) {
        if (!(*command)->words)
            continue;
        buffer_format(out, "            [ $command = %s ] && words=\"", (*command)->name);
        (*command)->words(out);
        buffer_text(out, "\"\n");
    }
}

static void bash(struct buffer *out)
{
    buffer_text(out, "# bash completion for beamflame\n"
                     "_beamflame() {\n"
                     "    local current previous command=record words= word\n"
                     "    _get_comp_words_by_ref -n =: current previous 2>/dev/null || {\n"
                     "        current=${COMP_WORDS[COMP_CWORD]}\n"
                     "        previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "    }\n"
                     "    case $current in --*=*)\n"
                     "        previous=${current%%=*} current=${current#*=} ;;\n"
                     "    esac\n"
                     "    for word in ");
    completion_commands(out);
    buffer_text(out, "; do\n"
                     "        [ \"${COMP_WORDS[1]}\" = $word ] && [ $COMP_CWORD -gt 1 ] && "
                     "command=$word\n"
                     "    done\n"
                     "    case $command:$previous in\n");
    for (const struct command *const *command = commands; *command; command++)
        put_bash_values(out, *command);
    buffer_text(out, "    *)\n"
                     "        case $current in\n"
                     "        -*) case $command in\n");
    for (const struct command *const *command = commands; *command; command++) {
        buffer_format(out, "            %s) words=\"", (*command)->name);
        put_option_words(out, *command);
        buffer_text(out, "\" ;;\n");
    }
    buffer_text(out, "            esac ;;\n"
                     "        *) [ $COMP_CWORD = 1 ] && words=\"");
    completion_commands(out);
    buffer_text(out, "\"\n");
    put_bash_words(out);
    buffer_text(out, "            ;;\n"
                     "        esac ;;\n"
                     "    esac\n"
                     "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                     "    case ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac\n"
                     "}\n"
                     "complete -o default -F _beamflame beamflame\n");
}

/* ---- zsh ---- */

/* In single quotes, where brackets and colons mean something to _arguments. */
static void put_zsh_text(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buffer_text(out, "'\\''");
        else if (strchr("[]:", *text))
            buffer_format(out, "\\%c", *text);
        else
            buffer_byte(out, *text);
    }
}

static void put_zsh_option(struct buffer *out, const struct command_option *option)
{
    char *names = option->letter ? xasprintf("'{-%c,--%s%s}'", option->letter, option->name,
                                             option->argument ? "=" : "")
                                 : xasprintf("--%s%s", option->name, option->argument ? "=" : "");

    buffer_format(out, "        '*%s[", names);
    put_zsh_text(out, option->help);
    buffer_byte(out, ']');
    if (option->argument) {
        buffer_byte(out, ':');
        put_zsh_text(out, option->argument);
        buffer_byte(out, ':');
        if (takes_file(option))
            buffer_text(out, "_files");
        else if (option->values) {
            buffer_byte(out, '(');
            put_values(out, option->values());
            buffer_byte(out, ')');
        }
    }
    buffer_text(out, "' \\\n");
    free(names);
}

static void put_zsh_command(struct buffer *out, const struct command *command)
{
    struct option_walk walk = {.group = command->groups};

    buffer_format(out, "    %s) _arguments -S \\\n", command->name);
    while (option_walk_next(&walk))
        put_zsh_option(out, walk.option);
    buffer_text(out, "        '--help[Show help.]' \\\n        '*:file:");
    if (command->words) {
        buffer_byte(out, '(');
        command->words(out);
        buffer_byte(out, ')');
    } else {
        buffer_text(out, "_files");
    }
    buffer_text(out, "' ;;\n");
}

static void zsh(struct buffer *out)
{
    buffer_text(out, "#compdef beamflame\n"
                     "_beamflame() {\n"
                     "    local command=record\n"
                     "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                     "        compadd ");
    completion_commands(out);
    buffer_text(out, "\n        return\n"
                     "    fi\n"
                     "    case $words[2] in\n"
                     "    ");
    for (const struct command *const *command = commands; *command; command++)
        buffer_format(out, "%s%s", command == commands ? "" : "|", (*command)->name);
    buffer_text(out, ")\n        command=$words[2]\n"
                     "        shift words\n"
                     "        (( CURRENT-- )) ;;\n"
                     "    esac\n"
                     "    case $command in\n");
    for (const struct command *const *command = commands; *command; command++)
        put_zsh_command(out, *command);
    buffer_text(out, "    esac\n"
                     "}\n"
                     "_beamflame \"$@\"\n");
}

/* ---- fish ---- */

static void put_fish_text(struct buffer *out, const char *text)
{
    buffer_byte(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, *text);
    }
    buffer_byte(out, '\'');
}

/* The condition under which a command's options are completed. */
static void put_fish_condition(struct buffer *out, const struct command *command)
{
    if (command == commands[0]) {
        buffer_text(out, "'not __fish_seen_subcommand_from");
        for (const struct command *const *other = commands + 1; *other; other++)
            buffer_format(out, " %s", (*other)->name);
        buffer_byte(out, '\'');
    } else {
        buffer_format(out, "'__fish_seen_subcommand_from %s'", command->name);
    }
}

static void put_fish_option(struct buffer *out, const struct command *command,
                            const struct command_option *option)
{
    buffer_text(out, "complete -c beamflame -n ");
    put_fish_condition(out, command);
    buffer_format(out, " -l %s", option->name);
    if (option->letter)
        buffer_format(out, " -s %c", option->letter);
    if (option->argument)
        buffer_text(out, takes_file(option) ? " -r -F" : " -x");
    if (option->values && !takes_file(option)) {
        buffer_text(out, " -a '");
        put_values(out, option->values());
        buffer_byte(out, '\'');
    }
    buffer_text(out, " -d ");
    put_fish_text(out, option->help);
    buffer_byte(out, '\n');
}

static void fish(struct buffer *out)
{
    buffer_text(out, "# fish completion for beamflame\n");
    for (const struct command *const *command = commands; *command; command++) {
        buffer_format(out, "complete -c beamflame -n __fish_use_subcommand -a %s -d ",
                      (*command)->name);
        put_fish_text(out, (*command)->summary);
        buffer_byte(out, '\n');
    }
    for (const struct command *const *command = commands; *command; command++) {
        struct option_walk walk = {.group = (*command)->groups};

        while (option_walk_next(&walk))
            put_fish_option(out, *command, walk.option);
    }
    for (const struct command *const *command = commands; *command; command++) {
        if (!(*command)->words)
            continue;
        buffer_format(out, "complete -c beamflame -n '__fish_seen_subcommand_from %s' -f -a '",
                      (*command)->name);
        (*command)->words(out);
        buffer_text(out, "'\n");
    }
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*put)(struct buffer *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

static void words(struct buffer *text)
{
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
        buffer_format(text, "%s%s", i ? " " : "", shells[i].name);
}

static int take_arguments(void *target, char **arguments, bool after_dashes, struct error *error)
{
    const char **shell = target;

    (void)after_dashes;
    for (size_t i = 0; arguments[0] && i < sizeof(shells) / sizeof(*shells); i++)
        if (!strcmp(shells[i].name, arguments[0]) && !arguments[1]) {
            *shell = shells[i].name;
            return 0;
        }
    return error_set(error, ERROR_USAGE, "completion takes one shell: bash, zsh or fish");
}

static int run(int argc, char **argv)
{
    const char *shell = NULL;
    struct buffer out = {0};
    int result;

    if (!command_line_parse(&completion_command, argc, argv, &shell, &result))
        return result;
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
        if (shell == shells[i].name)
            shells[i].put(&out);
    message_print_own(&out);
    buffer_free(&out);
    return message_finish("the script");
}

const struct command completion_command = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "print a script that completes command lines in bash, zsh or fish",
    .description = "Print a script that completes beamflame's command lines in SHELL: bash, zsh or "
                   "fish. 'make install' installs all three.",
    .examples = "source <(beamflame completion bash)\n",
    .words = words,
    .take_arguments = take_arguments,
    .run = run,
};
