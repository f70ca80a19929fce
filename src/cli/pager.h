// SPDX-License-Identifier: Apache-2.0
/*
 * The pager of commands that print a long text on a terminal.
 *
 * A command gives up the right to start programs before it reads foreign bytes. So the process that
 * becomes the pager is forked first. It waits until the whole text is in memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/command_line.h"

/* The option --no-pager. The target of its group is a bool. */
extern const struct command_option pager_option_list[];

struct pager {
    pid_t child;  /* becomes the pager; 0: there is none, and standard output is what it was */
    int start;    /* a byte written here starts the pager */
    int text;     /* a file in memory, in the place of standard output */
    int terminal; /* standard output as it was */
    size_t rows;  /* of the terminal */
    int columns;  /* 0: not known */
};

/* Keep what is written to standard output from now on, if that is a terminal that can have a pager.
 * `off`: keep nothing. Call it while there is no other thread. */
void pager_begin(struct pager *ret_pager, bool off);

/* Show what was written: by the pager if it is higher than the terminal. Wait for the end of the
 * pager. Return `code`, or the exit code of a failure that was printed. */
int pager_end(struct pager *pager, int code);
