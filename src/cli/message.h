// SPDX-License-Identifier: Apache-2.0
/* Messages on standard error. On a terminal they take the place of the line that shows progress. */
#pragma once

#include "util/error.h"

/* Print "beamflame: TEXT". Return the exit code of the error. */
int message_error(const struct error *error);

/* Print an error in the usage of a command, and how to get help. Return ERROR_USAGE. */
int message_usage(const char *command, const struct error *error);

/* Print "beamflame: " and the text, which is no error. */
void message_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "beamflame: warning: " and the text. */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
