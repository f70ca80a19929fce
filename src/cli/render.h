// SPDX-License-Identifier: Apache-2.0
/* From a recording to the outputs that were asked for, the summary, and the statistics. */
#pragma once

#include "cli/options.h"
#include "util/error.h"

/* Whether the outputs can be written, as output_check() tells. */
int render_check(const struct output_options *options, uint32_t events, bool peers,
                 struct error *error);

/* Write the outputs and, unless it is not wanted, the summary on standard output (of a comparison
 * what has changed). Takes over `fd`;
 * `name` is the recording's, for messages. Prints errors; returns the exit code. */
int render(int fd, const char *name, const struct output_options *options);
