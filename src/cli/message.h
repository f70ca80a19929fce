// SPDX-License-Identifier: Apache-2.0
/* What commands say to people: on standard error, where it takes the place of a line that shows
 * progress. */
#pragma once

#include "util/error.h"

/* "beamflame: TEXT." Returns the exit code that belongs to the error. */
int message_error(const struct error *error);
void message_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
