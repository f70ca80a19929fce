// SPDX-License-Identifier: Apache-2.0
/* `beamflame report`: other formats from a recording, on any machine. */
#include <stdint.h>
#include <stdlib.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "input/input.h"

/* Takes over the descriptors. */
static int read_input(const struct report_options *options, const int *fds, struct error *error)
{
    static const struct join_options by_time = {.order = JOIN_BY_TIME};

    if (options->path_count == 1)
        return input_open(fds[0], options->paths[0], temporary_directory(), error);
    return input_join(fds, options->paths, options->path_count, &by_time, temporary_directory(),
                      error);
}

static int report(void *context)
{
    const struct report_options *options = context;
    struct output_options output = options->output;
    struct error error;
    int *fds = render_take_inputs(options, &error);
    int fd = fds ? read_input(options, fds, &error) : -1;

    free(fds);
    if (fd < 0)
        return message_error(&error);
    if (options->path_count == 1)
        output.settings.path = options->paths[0];
    return render(fd, output.settings.path ? output.settings.path : "the files together", &output);
}

int report_files(const struct report_options *options)
{
    return render_files(options, report, (void *)(uintptr_t)options);
}

static int run(int argc, char **argv)
{
    struct report_options options = {.output.settings.view.grouping = {{GROUP_NAME}}};
    int result;

    if (command_line_parse(&report_command, argc, argv, &options, &result)) {
        signals_end_program();
        result = report_files(&options);
    }
    report_options_free(&options);
    return result;
}

const struct command report_command = {
    .name = "report",
    .arguments = "FILE...",
    .summary = "make other formats from a recording, or print its summary",
    .description =
        "Make other formats from recordings (.bfr), perf-script text (.perf, or what 'perf script' "
        "prints) or folded stacks, packed by gzip or not. Without -o, print a summary. - is "
        "standard input. Several files become one recording, in order of time.",
    .groups = report_option_groups,
    .examples = "beamflame report x.bfr                            # the summary\n"
                "beamflame report x.bfr -o x.svg -o x.html         # a flame graph and a page\n"
                "beamflame report x.bfr --process my_server -o x.svg\n"
                "beamflame report x.bfr --weight msgq -o x.svg     # whose queues are long\n"
                "perf script | beamflame report - -o x.svg\n",
    .notes = report_options_notes,
    .take_arguments = report_options_take_arguments,
    .check = report_options_check,
    .run = run,
};
