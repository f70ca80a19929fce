// SPDX-License-Identifier: Apache-2.0
/* `beamflame report`: makes other formats from a recording, on any machine. */
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/temporary.h"
#include "input/input.h"

static int open_input(const struct report_options *options, struct error *error)
{
    static const struct join_options by_time = {.order = JOIN_BY_TIME};

    if (options->path_count == 1)
        return input_open(options->paths[0], temporary_directory(), error);
    return input_join(options->paths, options->path_count, &by_time, temporary_directory(), error);
}

static int report(const struct report_options *options)
{
    struct error error;
    int fd;

    if (render_check(&options->output, 1, true, &error))
        return message_error(&error);
    fd = open_input(options, &error);
    if (fd < 0)
        return message_error(&error);
    return render(fd, options->path_count == 1 ? options->paths[0] : "the files together",
                  &options->output);
}

int command_report(int argc, char **argv)
{
    struct report_options options;
    int result;

    parse_report_options(argc, argv, &options);
    result = report(&options);
    report_options_free(&options);
    return result;
}
