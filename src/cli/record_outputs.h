// SPDX-License-Identifier: Apache-2.0
/* Writes the outputs of a complete recording. */
#pragma once

#include "cli/options.h"

/* Write the outputs of the recording that `fd` reads. `path`: its name, NULL if it has none. A
 * recording that would be lost is kept elsewhere, which is reported. Return the exit code. */
int record_outputs_write(const struct output_options *options, const char *path, int fd);
