// SPDX-License-Identifier: Apache-2.0
/* Writes the requested outputs, the summary and the statistics of a recording. */
#pragma once

#include "cli/options.h"
#include "os/file_fence.h"
#include "util/error.h"

/* Check that the outputs can be written, as output_check() does. */
int render_check(const struct output_options *options, uint32_t events, bool peers,
                 struct error *error);

/* A fence around all that is opened from now on: the outputs, the directory of temporary files, and
 * what the C library reads. Inputs are open before. */
struct file_fence *render_fence(const struct output_options *options);

/* Write the outputs, and the summary unless it is off. The summary (for a comparison: the changes)
 * goes to standard output, or to standard error if an output goes to standard output. Takes over
 * `fd`. `name`: of the recording, for messages. Prints errors. Returns the exit code.
 * *ret_written, unless NULL: all files were written, even if the summary was not. */
int render(int fd, const char *name, const struct output_options *options, bool *ret_written);

/* Report that an output was not written, because no sample counts for it. A warning if it is
 * optional. Return the exit code. */
int render_say_empty(const struct output_request *request);
