// SPDX-License-Identifier: Apache-2.0
/*
 * Listens to util/log.h, for -v, -vv and the environment variable BEAMFLAME_LOG. The lines go to
 * standard error, or into the file that the variable names.
 */
#pragma once

#include "cli/command_line.h"

/* Of each command that examines something. The options have no target. */
extern const struct command_option verbose_option_list[];
#define VERBOSE_OPTION_GROUP                                                                       \
    {                                                                                              \
        "Diagnostics", verbose_option_list, 0                                                      \
    }

/* Begin to count seconds, and listen as the value of BEAMFLAME_LOG says; NULL: not set. A file that
 * can't be written is a warning. */
void verbose_start(const char *value);

/* Say how many lines the file did not take, if any. */
void verbose_end(void);

/* The descriptor of the file that gets the lines; -1 if none does. */
int verbose_file(void);
