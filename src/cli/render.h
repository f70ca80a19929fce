// SPDX-License-Identifier: Apache-2.0
/* Writes the requested outputs, the summary and the statistics of a recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"
#include "util/error.h"

/* Check that the outputs can be written, as output_check() does. */
int render_check(const struct output_options *options, uint32_t events, bool peers,
                 struct error *error);

/* Work that reads foreign files and writes outputs, in a process with nothing (os/confined.h). */
struct render_work {
    int (*run)(void *context); /* in that process; returns its exit code */
    void *context;
    const struct output_options *output;
    const char *const *inputs; /* what file_broker_input() opens there */
    int *fds;                  /* of the inputs, each of which is opened once */
    size_t input_count;
    int recording; /* with no inputs: what file_broker_input() opens there */
};

/* Run the work. This process keeps only the rights to open its files. Return the exit code, or -1
 * with error if the process died. *ret_written, unless NULL: render() has written all files, even
 * if the summary was not. */
int render_apart(const struct render_work *work, bool *ret_written, struct error *error);

/* Check the outputs, open the inputs, and run the work of a command that reads files. Prints
 * errors. Returns the exit code. */
int render_files(const struct report_options *options, int (*run)(void *context), void *context);

/* In that process: return the descriptors of the inputs, in a list to be freed; NULL with error. */
int *render_take_inputs(const struct report_options *options, struct error *error);

/* Write the outputs, and the summary unless it is off. The summary (for a comparison: the changes)
 * goes to standard output, or to standard error if an output goes to standard output. Takes over
 * `fd`. `name`: of the recording, for messages. Prints errors. Returns the exit code. For the
 * process of render_apart(). */
int render(int fd, const char *name, const struct output_options *options);

/* Report that an output was not written, because no sample counts for it. A warning if it is
 * optional. Return the exit code. */
int render_say_empty(const struct output_empty *empty);

/* Write the outputs of the recording that `fd` reads. `path`: its name, NULL if it has none. A
 * recording that would be lost is kept elsewhere, with a report. Return the exit code. */
int render_recording(const struct output_options *options, const char *path, int fd);

/* ---- report.c ---- */

/* Write the outputs of the files together, as `report` does. Prints errors. Returns the exit code.
 */
int report_files(const struct report_options *options);
