// SPDX-License-Identifier: Apache-2.0
/* What commands say to people: on standard error. */
#pragma once

#include "util/error.h"

/* "beamflame: TEXT." Returns the exit code that belongs to the error. */
int message_error(const struct error *error);
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
