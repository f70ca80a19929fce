// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"

/* Append the manual page of a command, or of the program if it is NULL, as roff source. */
void man_page(const struct command *command, struct buffer *out);
