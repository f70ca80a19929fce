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
#include "cli/segment_names.h"
#include "cli/render.h"
#include "cli/verbose.h"
#include "recording/recording_join.h"
#include "util/alloc.h"

struct rotation {
    const struct record_options *options;
    struct segment_names *names;
    struct segment_time time; /* of the segment that is being recorded */
    pid_t child;              /* 0: none */
    unsigned written, empty, failed, cut, late;
    bool late_now;
};

struct rotation *rotation_new(const struct record_options *options, const char *recording,
                              const char *node)
{
    struct rotation *rotation = xcalloc(1, sizeof(*rotation));

    rotation->options = options;
    rotation->names = segment_names_new(options, recording, node);
    segment_names_remove_leftovers(rotation->names);
    return rotation;
}

int rotation_create(struct rotation *rotation, time_t seconds, struct error *error)
{
    rotation->late_now = false;
    return segment_names_create(rotation->names, seconds, &rotation->time, error);
}

void rotation_drop(struct rotation *rotation)
{
    char *temporary = segment_names_temporary(rotation->names, rotation->time);

    unlink(temporary);
    free(temporary);
}

/* ---- the child ---- */

/* The input of a child. */
struct source {
    const int *fds; /* read the segment, or its pieces */
    size_t count;
    const char *trigger; /* of pieces that the child joins into `file`; else NULL and -1 */
    int file;
};

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Close all other descriptors. Those of probes must not outlive the process that opened them. */
static void keep_only(const struct source *source)
{
    int *kept = xcalloc(source->count + 2, sizeof(*kept));
    size_t count = source->count;
    unsigned next = STDERR_FILENO + 1;

    memcpy(kept, source->fds, source->count * sizeof(*kept));
    if (source->file >= 0)
        kept[count++] = source->file;
    if (verbose_file() >= 0)
        kept[count++] = verbose_file();
    qsort(kept, count, sizeof(*kept), ascending);
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)kept[i] > next)
            close_range(next, (unsigned)kept[i] - 1, 0);
        next = (unsigned)kept[i] + 1;
    }
    close_range(next, ~0u, 0);
    free(kept);
}

/* A descriptor that reads the segment, or -1 if it can't be read. */
static int open_source(const struct source *source)
{
    struct join_part *pieces;
    struct error error;
    int fd;

    if (!source->trigger)
        return source->fds[0];
    pieces = xcalloc(source->count, sizeof(*pieces));
    for (size_t i = 0; i < source->count; i++)
        pieces[i] = (struct join_part){source->fds[i], "a kept segment"};
    if (recording_join(pieces, source->count, &(struct join_options){.trigger = source->trigger},
                       source->file, &fd, &error))
        message_error(&error);
    free(pieces);
    return fd;
}

/* Give the recording its requested name. */
static int publish(const char *temporary, const char *recording, bool quiet)
{
    struct error error;

    if (rename(temporary, recording)) {
        error_set(&error, ERROR_FAILED, "can't write %s: %s", recording, strerror(errno));
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
        outputs.requests[i].path = segment_names_output(rotation->names, i, rotation->time);
    outputs.stats_path = segment_names_statistics(rotation->names, rotation->time);
    outputs.no_summary = true;
    return outputs.count || outputs.stats_path ? render(fd, name, &outputs) : 0;
}

/* Returns the exit code. Memory is not freed, because the process ends. */
static int write_segment(const struct rotation *rotation, int fd)
{
    const struct record_options *options = rotation->options;
    char *temporary = segment_names_temporary(rotation->names, rotation->time);
    char *recording = segment_names_recording(rotation->names, rotation->time);
    int published = recording ? publish(temporary, recording, options->output.quiet) : 0;
    int rendered = render_outputs(rotation, fd, recording ? recording : temporary);

    if (!recording && (rendered == 0 || rendered == ERROR_NO_SAMPLES))
        unlink(temporary);
    else if (!recording || published)
        message_warning("the recording of that segment is kept in %s", temporary);
    if (options->keep)
        segment_names_remove_old(rotation->names, options->keep);
    return published ? published : rendered;
}

static void run_child(const struct rotation *rotation, const struct source *source)
{
    int fd;

    /* The signals are for the process that samples, but a terminal sends them to all. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    keep_only(source);
    fd = open_source(source);
    _exit(fd < 0 ? ERROR_FAILED : write_segment(rotation, fd));
}

/* ---- the parent ---- */

static void take_status(struct rotation *rotation, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERROR_FAILED;

    rotation->child = 0;
    if (WIFSIGNALED(status))
        message_warning("signal %d ended the process that wrote a segment", WTERMSIG(status));
    rotation->written += code == 0;
    rotation->empty += code == ERROR_NO_SAMPLES;
    rotation->failed += code != 0 && code != ERROR_NO_SAMPLES;
}

static void wait_for_child(struct rotation *rotation)
{
    int status = 0;

    while (rotation->child && waitpid(rotation->child, &status, 0) < 0)
        if (errno != EINTR)
            abort(); /* impossible: the child is ours */
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

static void start_child(struct rotation *rotation, const struct source *source)
{
    fflush(NULL);
    rotation->child = fork();
    if (rotation->child == 0)
        run_child(rotation, source);
    if (rotation->child < 0) {
        message_warning("a segment can't be written, because no process can be started: %s",
                        strerror(errno));
        rotation->child = 0;
        rotation->failed++;
    }
    for (size_t i = 0; i < source->count; i++)
        close(source->fds[i]);
    if (source->file >= 0)
        close(source->file);
}

void rotation_write(struct rotation *rotation, int fd, bool whole)
{
    wait_for_child(rotation);
    rotation->cut += !whole;
    if (fd < 0)
        rotation->failed++;
    else
        start_child(rotation, &(struct source){.fds = &fd, .count = 1, .file = -1});
}

void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *trigger,
                   int file, bool whole)
{
    wait_for_child(rotation);
    rotation->cut += !whole;
    start_child(rotation, &(struct source){pieces, count, trigger, file});
}

static void say_sum(const struct rotation *rotation)
{
    if (rotation->late)
        message_warning(
            "%u segments are longer than asked for, because the one before was still being written",
            rotation->late);
    if (rotation->cut)
        message_warning("%u segments ended early; what they have is kept", rotation->cut);
    if (rotation->failed)
        message_warning("%u of %u segments could not be written completely", rotation->failed,
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
    segment_names_free(rotation->names);
    free(rotation);
    return code;
}
