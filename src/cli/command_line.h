// SPDX-License-Identifier: Apache-2.0
/* Parsing a command line by a command's tables. */
#pragma once

#include "cli/command.h"

/* Store the options and arguments in `options`, the command's struct, which has its defaults. True
 * if the command may run. Else help or an error was printed, and `*ret_code` is the exit code. */
bool command_line_parse(const struct command *command, int argc, char **argv, void *options,
                        int *ret_code);
