// SPDX-License-Identifier: Apache-2.0
/* Commands and their options as tables. The parser of the command line, help, manual pages and
 * completions read these tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/buffer.h"
#include "util/error.h"

/* ---- option.c ---- */

struct command_option {
    const char *name;     /* "frequency" */
    char letter;          /* 'F'; 0: none */
    const char *argument; /* "HZ"; NULL: the option takes none */
    const char *help;     /* one or more sentences */
    /* Store the argument, NULL if the option takes none, at `target`: `field` bytes into the target
     * of the group. Return -1 with ERROR_USAGE if the argument is bad. */
    int (*set)(void *target, char *argument, struct error *error);
    const char *(*values)(void); /* the arguments that exist: "name, pid, status"; NULL: any */
    size_t field;                /* 0: `set` gets the whole target of the group */
};

/* Options that belong together. */
struct option_group {
    const char *title; /* the heading in help; "": none, the group above continues */
    const struct command_option *options; /* the last one has no name */
    size_t target; /* offset in the command's struct of options, for struct command_option */
};

/* For command_option.set: store true in a bool; the argument in a const char *; a process id in a
 * pid_t. */
int option_set_true(void *flag, char *argument, struct error *error);
int option_set_text(void *text, char *argument, struct error *error);
int option_set_pid(void *pid, char *argument, struct error *error);

/* All options of a command, in the order of its groups. Begin with {.group = command->groups}. */
struct option_walk {
    const struct option_group *group;
    const struct command_option *option;
};

/* Go to the next option. False if there is none. */
bool option_walk_next(struct option_walk *walk);

/* Arguments of options as numbers. If `text` is no such number, each returns -1 with ERROR_USAGE
 * and a text that names `what`. */

int option_number(const char *what, const char *text, long low, long high, long *ret_value,
                  struct error *error);
int option_pid(const char *text, pid_t *ret_pid, struct error *error);

/* More than 0; a fraction is allowed. */
int option_seconds(const char *what, const char *text, double *ret_value, struct error *error);
/* The same, or 0. */
int option_seconds_or_0(const char *what, const char *text, double *ret_value, struct error *error);

/* More than 0, at most 100. */
int option_percent(const char *what, const char *text, double *ret_value, struct error *error);

/* "20000", "100k", "20M", "1G". */
int option_bytes(const char *what, const char *text, uint64_t *ret_value, struct error *error);

/* ---- command_line.c ---- */

struct command {
    const char *name;
    const char *arguments;             /* "FILE...": for the usage line; NULL: none */
    const char *summary;               /* one line, for the list of commands */
    const char *description;           /* one or more sentences */
    const struct option_group *groups; /* the last one has no title */
    const char *examples;              /* lines of shell; NULL: none */
    void (*notes)(
        struct buffer *text); /* append what help prints below the options; NULL: nothing */
    void (*words)(struct buffer *text); /* append words that its arguments can be, with blanks
                                         * between, for completion; NULL: none are known */
    /* Store the arguments that are no options, all at once, ended by NULL. `after_dashes`: they
     * stand after "--". NULL: the command takes none. */
    int (*take_arguments)(void *options, char **arguments, bool after_dashes, struct error *error);
    /* Check options that depend on each other, when all are stored; NULL: none do. */
    int (*check)(void *options, struct error *error);
    /* Run with the arguments behind the command's name. Prints its own errors; returns the exit
     * code (enum error_code). */
    int (*run)(int argc, char **argv);
};

extern const struct command record_command, report_command, prof_command, diff_command,
    dump_command, calls_command, ctl_command, ps_command, probes_command, doctor_command,
    agent_command, help_command, completion_command;

/* All commands, ended by NULL, in the order of help. The first one is the default. */
extern const struct command *const commands[];

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* Store the options and arguments in `options`, the command's struct, which has its defaults. True
 * if the command may run. Else help or an error was printed, and `*ret_code` is the exit code. */
bool command_line_parse(const struct command *command, int argc, char **argv, void *options,
                        int *ret_code);

/* Return a command with its arguments as one line, to be freed. `command` NULL: none was given.
 * Parsing changes arguments: call it before. */
char *command_line_join(const char *command, int argc, char **argv);

/* ---- completion.c ---- */

/* Append the names of all commands, with blanks between. */
void completion_commands(struct buffer *out);

/* ---- help.c, man_page.c ---- */

/* Print the help of a command on standard output, as wide as the terminal. Return the exit code. */
int help_print(const struct command *command);

/* Append the manual page of a command, or of the program if it is NULL, as roff source. */
void man_page(const struct command *command, struct buffer *out);
