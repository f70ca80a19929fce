// SPDX-License-Identifier: Apache-2.0
/* Parsing a command line by a command's tables. */
#pragma once

#include <stdbool.h>

#include "cli/option.h"
#include "util/buffer.h"
#include "util/error.h"

/*
 * The commands of the program as tables. The parser of the command line, help, manual pages and
 * completions all read these tables.
 */

struct command {
    const char *name;
    const char *arguments;             /* "FILE...": for the usage line; NULL: none */
    const char *summary;               /* one line, for the list of commands */
    const char *description;           /* one or more sentences */
    const struct option_group *groups; /* the last one has no title */
    const char *examples;              /* lines of shell; NULL: none */
    void (*notes)(
        struct buffer *text); /* append what help prints below the options; NULL: nothing */
    /* Store the arguments that are no options, all at once, ended by NULL. `after_dashes`: they
     * stand after "--". NULL: the command takes none. */
    int (*take_arguments)(void *options, char **arguments, bool after_dashes, struct error *error);
    /* Check options that depend on each other, when all are stored; NULL: none do. */
    int (*check)(void *options, struct error *error);
    /* Run with the arguments behind the command's name. Prints its own errors; returns the exit
     * code (enum error_code). */
    int (*run)(int argc, char **argv);
};

extern const struct command record_command, report_command, diff_command, dump_command, ps_command,
    probes_command, doctor_command, agent_command, help_command, completion_command;

/* All commands, ended by NULL, in the order of help. The first one is the default. */
extern const struct command *const commands[];

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* Store the options and arguments in `options`, the command's struct, which has its defaults. True
 * if the command may run. Else help or an error was printed, and `*ret_code` is the exit code. */
bool command_line_parse(const struct command *command, int argc, char **argv, void *options,
                        int *ret_code);
