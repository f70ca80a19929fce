// SPDX-License-Identifier: Apache-2.0
#include "cli/record_outputs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/render.h"
#include "os/file_broker.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"

#define KEPT "%s: the recording is kept in %s; 'beamflame report' makes outputs of it"

/* Save a recording that no output has. `reason`: why, "" if that was said. Return the exit code. */
static int keep_recording(int fd, const char *reason)
{
    struct error error;
    char *kept = recording_keep(fd, temporary_directory(), &error);

    if (!kept) {
        error_prefix(&error, "%s", reason);
        return message_error(&error);
    }
    message_say(KEPT, reason, kept);
    free(kept);
    return ERROR_FAILED;
}

/* What the process that writes the outputs needs. */
struct record_outputs {
    const struct output_options *options;
    const char *name; /* of the recording, for messages */
};

static int write_outputs(void *context)
{
    const struct record_outputs *outputs = context;
    struct error error;
    int fd = file_broker_input(outputs->name, &error);

    return fd < 0 ? message_error(&error) : render(fd, outputs->name, outputs->options);
}

/* Report where the recording is when the process that writes the outputs has died. Return the exit
 * code. */
static int keep_unwritten(const char *path, int fd, const struct error *reason)
{
    if (!path)
        return keep_recording(fd, reason->text);
    message_say(KEPT, reason->text, path);
    return ERROR_FAILED;
}

int record_outputs_write(const struct output_options *options, const char *path, int fd)
{
    struct record_outputs outputs = {options, path ? path : "the recording"};
    const struct render_work work = {
        .run = write_outputs,
        .context = &outputs,
        .output = options,
        .recording = fd,
    };
    bool is_gone = path && !recording_keep_is_at(path, fd), written;
    struct error error;
    int result;

    if (path && !is_gone && !options->quiet)
        message_say("wrote %s", path);
    result = render_apart(&work, &written, &error);
    if (is_gone) {
        char *reason = xasprintf("%s was removed while it was recorded", path);

        if (result < 0)
            message_error(&error);
        result = keep_recording(fd, reason);
        free(reason);
    } else if (result < 0) {
        result = keep_unwritten(path, fd, &error);
    } else if (!path && result == ERROR_FAILED && !written) {
        keep_recording(fd, "not all outputs were written");
    }
    return result;
}
