// SPDX-License-Identifier: Apache-2.0
#include "rotation/rotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording/recording.h"
#include "rotation/segments_internal.h"
#include "util/alloc.h"

struct rotation {
    struct segment_context context;
    struct segment_names *names;    /* of the context */
    struct segment_time time;       /* of the segment that is being recorded */
    pid_t child;                    /* 0: none */
    struct segment_source *written; /* what the child writes; NULL: none */
    struct rotation_counts counts;
    bool late_now;
};

struct rotation *rotation_new(const struct segment_files *files,
                              const struct session_options *session, const char *node,
                              const struct rotation_reports *reports)
{
    struct rotation *rotation = xcalloc(1, sizeof(*rotation));

    rotation->names = segment_names_new(files, session, node);
    rotation->context = (struct segment_context){
        .files = files,
        .reports = reports,
        .names = rotation->names,
        .copies = files->keep ? kept_copies_new(files->keep) : NULL,
    };
    segment_names_remove_leftovers(rotation->names, SEGMENT_FOLDERS_LOCAL);
    return rotation;
}

int rotation_create(struct rotation *rotation, time_t seconds, struct error *error)
{
    rotation->late_now = false;
    return segment_names_create(rotation->names, seconds, &rotation->time, error);
}

void rotation_drop(struct rotation *rotation)
{
    segment_names_remove_temporary(rotation->names, rotation->time);
}

/* A signal has ended the child: keep the recording that it had to write, and remove its temporary
 * files. */
static void take_from_killed(struct rotation *rotation, int number)
{
    rotation->context.reports->warn("signal %d ended the process that wrote a segment", number);
    segment_source_keep_of_killed(&rotation->context, rotation->written);
    segment_names_remove_leftovers(rotation->names, SEGMENT_FOLDERS_LOCAL);
}

static void take_status(struct rotation *rotation, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERROR_FAILED;

    rotation->child = 0;
    if (WIFSIGNALED(status))
        take_from_killed(rotation, WTERMSIG(status));
    segment_source_free(rotation->written);
    rotation->written = NULL;
    rotation->counts.written += code == 0;
    rotation->counts.empty += code == ERROR_NO_SAMPLES;
    rotation->counts.failed += code != 0 && code != ERROR_NO_SAMPLES;
}

void rotation_wait(struct rotation *rotation)
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
    rotation->counts.late += rotation->child && !rotation->late_now;
    rotation->late_now |= rotation->child != 0;
    return rotation->child != 0;
}

/* Takes over `source`. */
static void start_child(struct rotation *rotation, struct segment_source *source)
{
    fflush(NULL);
    rotation->child = fork();
    if (rotation->child == 0)
        segment_writer_run(&rotation->context, source);
    if (rotation->child < 0) {
        rotation->context.reports->warn(
            "a segment can't be written, because no process can be started: %s", strerror(errno));
        rotation->child = 0;
        rotation->counts.failed++;
        segment_source_keep(&rotation->context, source);
        segment_source_free(source);
        return;
    }
    rotation->written = source;
}

void rotation_write(struct rotation *rotation, int fd, bool whole)
{
    rotation_wait(rotation);
    rotation->counts.cut += !whole;
    if (fd < 0)
        rotation->counts.failed++;
    else
        start_child(rotation, segment_source_new(rotation->time, &fd, 1, NULL, -1));
}

void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *trigger,
                   int file, bool whole)
{
    rotation_wait(rotation);
    rotation->counts.cut += !whole;
    start_child(rotation, segment_source_new(rotation->time, pieces, count, trigger, file));
}

void rotation_keep(struct rotation *rotation, const int *pieces, size_t count, const char *trigger)
{
    struct error error;
    int file = recording_writer_file(NULL, rotation->context.files->temporary, &error);
    struct segment_source *source =
        segment_source_new(rotation->time, pieces, count, trigger, file);

    rotation->counts.failed++;
    if (file < 0)
        segment_source_report(&rotation->context, &error);
    else
        segment_source_keep(&rotation->context, source);
    segment_source_free(source);
}

struct rotation_counts rotation_finish(struct rotation *rotation)
{
    struct rotation_counts counts;

    rotation_wait(rotation);
    counts = rotation->counts;
    segment_names_free(rotation->names);
    kept_copies_free(rotation->context.copies);
    free(rotation);
    return counts;
}
