// SPDX-License-Identifier: Apache-2.0
/* `beamflame report`: other formats from a recording, on any machine. */
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/temporary.h"
#include "input/input.h"

static int report(const struct report_options *options)
{
    struct error error;
    int fd;

    if (render_check(&options->output, 1, true, &error))
        return message_error(&error);
    fd = input_open(options->path, temporary_directory(), &error);
    if (fd < 0)
        return message_error(&error);
    return render(fd, options->path, &options->output);
}

int command_report(int argc, char **argv)
{
    struct report_options options;
    int result;

    parse_report_options(argc, argv, &options);
    result = report(&options);
    output_options_free(&options.output);
    return result;
}
