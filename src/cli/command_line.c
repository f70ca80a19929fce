// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "util/alloc.h"
#include "util/word_list.h"

/* What getopt_long() returns for an option without a letter: FIRST and its index. */
enum { FIRST = 256 };

/* An option, and where it stores. */
struct option_entry {
    const struct command_option *option;
    void *target;
};

struct command_parser {
    const struct command *command;
    void *options;
    struct option_entry *entries;
    size_t count, room;
};

static void collect(struct command_parser *parser)
{
    struct option_walk walk = {.group = parser->command->groups};

    while (option_walk_next(&walk)) {
        parser->entries =
            xgrow(parser->entries, &parser->room, parser->count, sizeof(*parser->entries));
        parser->entries[parser->count++] = (struct option_entry){
            walk.option, (char *)parser->options + walk.group->target + walk.option->field};
    }
}

/* The tables in the form of getopt_long(); one more option is --help. The caller frees both. */
static struct option *long_options(const struct command_parser *parser)
{
    struct option *all = xcalloc(parser->count + 2, sizeof(*all));

    for (size_t i = 0; i < parser->count; i++) {
        const struct command_option *option = parser->entries[i].option;

        all[i] = (struct option){option->name, option->argument ? required_argument : no_argument,
                                 NULL, FIRST + (int)i};
    }
    all[parser->count] = (struct option){"help", no_argument, NULL, 'h'};
    return all;
}

static char *short_options(const struct command_parser *parser)
{
    struct buffer text = {0};

    buffer_text(&text, "+:h");
    for (size_t i = 0; i < parser->count; i++) {
        const struct command_option *option = parser->entries[i].option;

        if (option->letter)
            buffer_format(&text, "%c%s", option->letter, option->argument ? ":" : "");
    }
    buffer_byte(&text, '\0');
    return text.data;
}

static const struct option_entry *entry_of(const struct command_parser *parser, int found)
{
    if (found >= FIRST && found < FIRST + (int)parser->count)
        return &parser->entries[found - FIRST];
    for (size_t i = 0; i < parser->count; i++)
        if (found && parser->entries[i].option->letter == found)
            return &parser->entries[i];
    return NULL;
}

/* Refuse `word`, which begins no name of an option or the names of several. */
static int refuse_name(const struct command_parser *parser, const char *word, struct error *error)
{
    const char *name = word + strspn(word, "-");
    size_t size = strcspn(name, "=");
    int length = (int)(name + size - word);
    char names[256] = "";

    for (size_t i = 0; i < parser->count; i++) {
        const struct command_option *option = parser->entries[i].option;
        char written[64];

        snprintf(written, sizeof(written), "--%s", option->name);
        if (!strncmp(option->name, name, size))
            word_list_add(names, sizeof(names), written);
    }
    if (!names[0])
        return error_set(error, ERROR_USAGE, "unknown option '%.*s'", length, word);
    if (!strncmp("help", name, size))
        word_list_add(names, sizeof(names), "--help");
    return error_set(error, ERROR_USAGE, "option '%.*s' is ambiguous: %s", length, word, names);
}

/* What getopt_long() refused: `found` is '?' or ':', `word` the argument with the option. */
static int refuse(const struct command_parser *parser, int found, const char *word,
                  struct error *error)
{
    const struct option_entry *entry = entry_of(parser, optopt);

    if (found == ':' && entry)
        return error_set(error, ERROR_USAGE, "--%s needs %s", entry->option->name,
                         entry->option->argument);
    if (entry)
        return error_set(error, ERROR_USAGE, "--%s takes no argument", entry->option->name);
    if (optopt && optopt < FIRST)
        return error_set(error, ERROR_USAGE, "unknown option '-%c'", optopt);
    return refuse_name(parser, word, error);
}

static int take_arguments(const struct command_parser *parser, char **arguments, bool after_dashes,
                          struct error *error)
{
    const struct command *command = parser->command;

    if (!arguments[0] && !command->arguments)
        return 0;
    if (!command->take_arguments)
        return error_set(error, ERROR_USAGE, "unexpected argument '%s'", arguments[0]);
    return command->take_arguments(parser->options, arguments, after_dashes, error);
}

/* Store the options before the next argument that is no option. Return the index of that argument,
 * or argc; -1 with error; -1 without error for --help. */
static int parse_options(const struct command_parser *parser, int argc, char **argv,
                         const char *letters, const struct option *names, struct error *error)
{
    int found;

    while ((found = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        const struct option_entry *entry = entry_of(parser, found);

        if (found == 'h' && !entry)
            return -1;
        if (found == '?' || found == ':' || !entry)
            return refuse(parser, found, argv[optind - 1], error);
        if (entry->option->set(entry->target, optarg, error))
            return -1;
    }
    return optind;
}

/* Options may come behind arguments, but for a command line behind "--". */
static int parse(const struct command_parser *parser, int argc, char **argv, struct error *error)
{
    struct option *names = long_options(parser);
    char *letters = short_options(parser);
    char **arguments = xcalloc((size_t)argc + 1, sizeof(*arguments));
    bool dashes = false;
    int count = 0, at = 1, result = 0;

    optind = 0; /* getopt_long() starts anew */
    opterr = 0;
    while (!result && !dashes) {
        int next = parse_options(parser, argc, argv, letters, names, error);

        if (next < 0)
            result = -1;
        else if (next >= argc)
            break;
        else if (next > at && !strcmp(argv[next - 1], "--"))
            dashes = true;
        else
            arguments[count++] = argv[next];
        at = optind = next + 1;
    }
    for (int i = at - 1; dashes && i < argc; i++)
        arguments[count++] = argv[i];
    if (!result)
        result = take_arguments(parser, arguments, dashes, error);
    if (!result && parser->command->check)
        result = parser->command->check(parser->options, error);
    free(arguments);
    free(letters);
    free(names);
    return result;
}

bool command_line_parse(const struct command *command, int argc, char **argv, void *options,
                        int *ret_code)
{
    struct command_parser parser = {.command = command, .options = options};
    /* getopt_long() begins at index 1. */
    char **all = xcalloc((size_t)argc + 2, sizeof(*all));
    struct error error = {0};
    int result;

    all[0] = (char *)(uintptr_t)command->name;
    if (argc)
        memcpy(all + 1, argv, (size_t)argc * sizeof(*all));
    collect(&parser);
    result = parse(&parser, argc + 1, all, &error);
    free(parser.entries);
    free(all);
    if (!result)
        return true;
    *ret_code = 0;
    if (error.code)
        *ret_code = message_usage(command->name, &error);
    else
        *ret_code = help_print(command);
    return false;
}

const struct command *const commands[] = {
    &record_command,     &ctl_command,   &report_command,
    &prof_command,       &diff_command,  &dump_command,
    &calls_command,      &ps_command,    &probes_command,
    &doctor_command,     &agent_command, &help_command,
    &completion_command, NULL,
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *command = commands; *command; command++)
        if (!strcmp((*command)->name, name))
            return *command;
    return NULL;
}

char *command_line_join(const char *command, int argc, char **argv)
{
    struct buffer line = {0};

    buffer_text(&line, "beamflame");
    if (command)
        buffer_format(&line, " %s", command);
    for (int i = 0; i < argc; i++)
        buffer_format(&line, " %s", argv[i]);
    buffer_byte(&line, '\0');
    return line.data;
}
