// SPDX-License-Identifier: Apache-2.0
/* `beamflame help`: help on the terminal, and manual pages, made from the commands' tables. */
#pragma once

#include "cli/command_line.h"

/* Print the help of a command on standard output, as wide as the terminal. Return the exit code. */
int help_print(const struct command *command);

/* Append the manual page of a command, or of the program if it is NULL, as roff source. */
void man_page(const struct command *command, struct buffer *out);
