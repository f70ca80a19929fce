// SPDX-License-Identifier: Apache-2.0
#include "cli/rotation.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/part_names.h"
#include "cli/render.h"
#include "util/alloc.h"

struct rotation {
    const struct record_options *options;
    struct part_names *names;
    struct part_time time; /* of the part that is recorded */
    pid_t child;           /* 0: none */
    unsigned written, empty, failed, cut, late;
    bool late_now;
};

struct rotation *rotation_new(const struct record_options *options, const char *recording,
                              const char *node)
{
    struct rotation *rotation = xcalloc(1, sizeof(*rotation));

    rotation->options = options;
    rotation->names = part_names_new(options, recording, node);
    part_names_remove_leftovers(rotation->names);
    return rotation;
}

int rotation_create(struct rotation *rotation, struct error *error)
{
    rotation->late_now = false;
    return part_names_create(rotation->names, time(NULL), &rotation->time, error);
}

void rotation_drop(struct rotation *rotation)
{
    char *temporary = part_names_temporary(rotation->names, rotation->time);

    unlink(temporary);
    free(temporary);
}

/* ---- the child ---- */

/* Descriptors of probes must not outlive the process that asked for them. */
static void keep_only(int fd)
{
    if (fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0u, 0);
}

/* Give the recording the name that was asked for. */
static int publish(const char *temporary, const char *recording, bool quiet)
{
    struct error error;

    if (rename(temporary, recording)) {
        error_set(&error, ERROR_FAILED, "cannot write %s: %s", recording, strerror(errno));
        return message_error(&error);
    }
    if (!quiet)
        message_say("wrote %s", recording);
    return 0;
}

static int render_outputs(const struct rotation *rotation, int fd, const char *name)
{
    struct output_options outputs = rotation->options->output;

    for (size_t i = 0; i < outputs.count; i++)
        outputs.requests[i].path = part_names_output(rotation->names, i, rotation->time);
    outputs.stats_path = part_names_statistics(rotation->names, rotation->time);
    outputs.no_summary = true;
    return outputs.count || outputs.stats_path ? render(fd, name, &outputs) : 0;
}

/* Returns the exit code. Memory is left to the end of the process. */
static int write_part(const struct rotation *rotation, int fd)
{
    const struct record_options *options = rotation->options;
    char *temporary = part_names_temporary(rotation->names, rotation->time);
    char *recording = part_names_recording(rotation->names, rotation->time);
    int published = recording ? publish(temporary, recording, options->output.quiet) : 0;
    int rendered = render_outputs(rotation, fd, recording ? recording : temporary);

    if (!recording && (rendered == 0 || rendered == ERROR_NO_SAMPLES))
        unlink(temporary);
    else if (!recording || published)
        message_warning("the recording of that part is kept in %s", temporary);
    if (options->keep)
        part_names_remove_old(rotation->names, options->keep);
    return published ? published : rendered;
}

static void run_child(const struct rotation *rotation, int fd)
{
    /* They are for the process that samples, but a terminal sends them to all. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    keep_only(fd);
    _exit(write_part(rotation, fd));
}

/* ---- its parent ---- */

static void take_status(struct rotation *rotation, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERROR_FAILED;

    rotation->child = 0;
    if (WIFSIGNALED(status))
        message_warning("writing a part was ended by signal %d", WTERMSIG(status));
    rotation->written += code == 0;
    rotation->empty += code == ERROR_NO_SAMPLES;
    rotation->failed += code != 0 && code != ERROR_NO_SAMPLES;
}

static void wait_for_child(struct rotation *rotation)
{
    int status = 0;

    while (rotation->child && waitpid(rotation->child, &status, 0) < 0)
        if (errno != EINTR)
            abort(); /* it is ours */
    if (rotation->child)
        take_status(rotation, status);
}

bool rotation_is_busy(struct rotation *rotation)
{
    int status;

    if (rotation->child && waitpid(rotation->child, &status, WNOHANG) > 0)
        take_status(rotation, status);
    rotation->late += rotation->child && !rotation->late_now;
    rotation->late_now |= rotation->child != 0;
    return rotation->child != 0;
}

void rotation_write(struct rotation *rotation, int fd, bool whole)
{
    wait_for_child(rotation);
    rotation->cut += !whole;
    if (fd < 0) {
        rotation->failed++;
        return;
    }
    fflush(NULL);
    rotation->child = fork();
    if (rotation->child == 0)
        run_child(rotation, fd);
    if (rotation->child < 0) {
        message_warning("a part can't be written: no process can be started: %s", strerror(errno));
        rotation->child = 0;
        rotation->failed++;
    }
    close(fd);
}

static void say_sum(const struct rotation *rotation)
{
    if (rotation->late)
        message_warning("%u parts went on for longer, as the one before was still being written",
                        rotation->late);
    if (rotation->cut)
        message_warning("%u parts ended early; what they held up to then is kept", rotation->cut);
    if (rotation->failed)
        message_warning("%u of %u parts could not be written as a whole", rotation->failed,
                        rotation->written + rotation->empty + rotation->failed);
}

int rotation_finish(struct rotation *rotation)
{
    int code;

    wait_for_child(rotation);
    say_sum(rotation);
    if (rotation->failed || rotation->cut)
        code = ERROR_FAILED;
    else
        code = rotation->empty && !rotation->written ? ERROR_NO_SAMPLES : 0;
    part_names_free(rotation->names);
    free(rotation);
    return code;
}
