// SPDX-License-Identifier: Apache-2.0
/* Messages to the user, on standard error. On a terminal, a message replaces the progress line. */
#pragma once

#include "util/error.h"

/* Print "beamflame: TEXT". Returns the exit code of the error. */
int message_error(const struct error *error);
void message_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
