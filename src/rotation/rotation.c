// SPDX-License-Identifier: Apache-2.0
#include "rotation/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/privileges.h"
#include "output/formats.h"
#include "recording/recording.h"
#include "recording/recording_join.h"
#include "recording/recording_keep.h"
#include "rotation/segment_names.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/folder.h"

struct rotation {
    const struct segment_files *files;
    const struct rotation_reports *reports;
    struct segment_names *names;
    struct segment_time time; /* of the segment that is being recorded */
    pid_t child;              /* 0: none */
    struct rotation_counts counts;
    bool late_now;
};

struct rotation *rotation_new(const struct segment_files *files,
                              const struct session_options *session, const char *node,
                              const struct rotation_reports *reports)
{
    struct rotation *rotation = xcalloc(1, sizeof(*rotation));

    rotation->files = files;
    rotation->reports = reports;
    rotation->names = segment_names_new(files, session, node);
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

    file_place_unlink(temporary);
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

/* Close all other descriptors but those of the folders. Those of probes must not outlive the
 * process that opened them. `log_file`: as in struct rotation_reports. */
static void keep_only(const struct source *source, int log_file)
{
    size_t count = source->count;
    int *kept = xcalloc(count + folders_held(NULL) + 2, sizeof(*kept));
    unsigned next = STDERR_FILENO + 1;

    memcpy(kept, source->fds, source->count * sizeof(*kept));
    count += folders_held(kept + count);
    if (source->file >= 0)
        kept[count++] = source->file;
    if (log_file >= 0)
        kept[count++] = log_file;
    qsort(kept, count, sizeof(*kept), ascending);
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)kept[i] > next)
            close_range(next, (unsigned)kept[i] - 1, 0);
        next = (unsigned)kept[i] + 1;
    }
    close_range(next, ~0u, 0);
    free(kept);
}

/* Report the error. Return the exit code. */
static int report(const struct rotation_reports *reports, const struct error *error)
{
    reports->failed(reports->context, error);
    return (int)error->code;
}

/* A descriptor that reads the segment, or -1 if it can't be read. */
static int open_source(const struct rotation *rotation, const struct source *source)
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
        report(rotation->reports, &error);
    free(pieces);
    return fd;
}

/* Give the recording, which `fd` reads, its requested name. Return the exit code. */
static int publish(const struct rotation_reports *reports, const char *temporary,
                   const char *recording, int fd)
{
    struct error error;

    if (file_place_rename(temporary, recording)) {
        error_set(&error, ERROR_FAILED, "can't write %s: %s", recording, folder_problem(errno));
        return report(reports, &error);
    }
    file_place_open_up(fd);
    reports->wrote(reports->context, recording);
    return 0;
}

/* Report what was written, except the statistics, and what is empty. Return the exit code. */
static int report_outputs(const struct rotation_reports *reports,
                          const struct output_result *result, const char *statistics)
{
    int code = 0;

    for (size_t i = 0; i < result->path_count; i++)
        if (!statistics || strcmp(result->paths[i], statistics))
            reports->wrote(reports->context, result->paths[i]);
    for (size_t i = 0; i < result->empty_count; i++) {
        reports->empty(reports->context, result->empty[i]);
        if (!result->empty[i]->optional)
            code = ERROR_NO_SAMPLES;
    }
    return code;
}

/* Write the outputs and the statistics. `name`: of the recording, for messages. Return the exit
 * code. */
static int write_outputs(const struct rotation *rotation, int fd, const char *name)
{
    const struct segment_files *files = rotation->files;
    struct output_request *requests = xcalloc(files->request_count + 1, sizeof(*requests));
    char *statistics = segment_names_statistics(rotation->names, rotation->time);
    size_t count = files->request_count;
    struct recording *recording;
    struct output_result result;
    struct error error;

    for (size_t i = 0; i < count; i++) {
        requests[i] = files->requests[i];
        requests[i].path = segment_names_output(rotation->names, i, rotation->time);
    }
    if (statistics)
        requests[count++] =
            (struct output_request){.path = statistics, .format = &stats_json_format};
    if (!count)
        return 0;
    recording = recording_open(fd, name, &error);
    if (!recording || output_write(recording, files->settings, requests, count, &result, &error))
        return report(rotation->reports, &error);
    return report_outputs(rotation->reports, &result, statistics);
}

/* Report where the recording of a segment is that could not be written: under the name `temporary`
 * if that still exists, or under a new name elsewhere. */
static void keep(const struct rotation *rotation, int fd, const char *temporary)
{
    struct error error;
    char *kept;

    if (temporary && recording_is_at(temporary, fd)) {
        rotation->reports->warn("the recording of that segment is kept in %s", temporary);
        return;
    }
    kept = recording_keep(fd, rotation->files->temporary, &error);
    if (kept)
        rotation->reports->warn("the recording of that segment is kept in %s", kept);
    else
        report(rotation->reports, &error);
    free(kept);
}

/* Return the exit code. Memory is not freed, because the process ends. */
static int write_segment(const struct rotation *rotation, int fd)
{
    char *temporary = segment_names_temporary(rotation->names, rotation->time);
    char *recording = segment_names_recording(rotation->names, rotation->time);
    int published = recording ? publish(rotation->reports, temporary, recording, fd) : 0;
    int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int written = write_outputs(rotation, fd, recording ? recording : temporary);

    if (!recording && (written == 0 || written == ERROR_NO_SAMPLES))
        file_place_unlink(temporary);
    else if (!recording || published)
        keep(rotation, again, temporary);
    if (rotation->files->keep)
        segment_names_remove_old(rotation->names, rotation->files->keep, rotation->time);
    return published ? published : written;
}

/* A fence around the files of all segments. */
static struct file_fence *fence_around(const struct segment_files *files)
{
    struct file_fence *fence = file_fence_new();

    if (files->recording)
        file_fence_write_beside(fence, files->recording);
    for (size_t i = 0; i < files->request_count; i++)
        file_fence_write_beside(fence, files->requests[i].path);
    if (files->stats_path)
        file_fence_write_beside(fence, files->stats_path);
    recording_permit_places(fence, files->temporary);
    file_fence_read_time_zone(fence);
    return fence;
}

static void run_child(const struct rotation *rotation, const struct source *source)
{
    int fd;

    /* The signals are for the process that samples, but a terminal sends them to all. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    keep_only(source, rotation->reports->log_file);
    privileges_render(fence_around(rotation->files));
    fd = open_source(rotation, source);
    _exit(fd < 0 ? ERROR_FAILED : write_segment(rotation, fd));
}

/* ---- the parent ---- */

static void take_status(struct rotation *rotation, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERROR_FAILED;

    rotation->child = 0;
    if (WIFSIGNALED(status))
        rotation->reports->warn("signal %d ended the process that wrote a segment",
                                WTERMSIG(status));
    rotation->counts.written += code == 0;
    rotation->counts.empty += code == ERROR_NO_SAMPLES;
    rotation->counts.failed += code != 0 && code != ERROR_NO_SAMPLES;
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
    rotation->counts.late += rotation->child && !rotation->late_now;
    rotation->late_now |= rotation->child != 0;
    return rotation->child != 0;
}

/* Keep the recording of a segment that no child writes. Takes over the descriptors. */
static void keep_source(const struct rotation *rotation, const struct source *source)
{
    char *temporary = segment_names_temporary(rotation->names, rotation->time);
    int fd = open_source(rotation, source);

    if (fd >= 0) {
        keep(rotation, fd, temporary);
        close(fd);
    }
    free(temporary);
}

static void start_child(struct rotation *rotation, const struct source *source)
{
    fflush(NULL);
    rotation->child = fork();
    if (rotation->child == 0)
        run_child(rotation, source);
    if (rotation->child < 0) {
        rotation->reports->warn("a segment can't be written, because no process can be started: %s",
                                strerror(errno));
        rotation->child = 0;
        rotation->counts.failed++;
        keep_source(rotation, source);
        return;
    }
    for (size_t i = 0; i < source->count; i++)
        close(source->fds[i]);
    if (source->file >= 0)
        close(source->file);
}

void rotation_write(struct rotation *rotation, int fd, bool whole)
{
    wait_for_child(rotation);
    rotation->counts.cut += !whole;
    if (fd < 0)
        rotation->counts.failed++;
    else
        start_child(rotation, &(struct source){.fds = &fd, .count = 1, .file = -1});
}

void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *trigger,
                   int file, bool whole)
{
    wait_for_child(rotation);
    rotation->counts.cut += !whole;
    start_child(rotation, &(struct source){pieces, count, trigger, file});
}

void rotation_keep(struct rotation *rotation, const int *pieces, size_t count, const char *trigger)
{
    struct error error;
    int fd, file = recording_file(NULL, rotation->files->temporary, &error);

    rotation->counts.failed++;
    if (file < 0) {
        report(rotation->reports, &error);
        for (size_t i = 0; i < count; i++)
            close(pieces[i]);
        return;
    }
    fd = open_source(rotation, &(struct source){pieces, count, trigger, file});
    if (fd < 0)
        return;
    keep(rotation, fd, NULL);
    close(fd);
}

struct rotation_counts rotation_finish(struct rotation *rotation)
{
    struct rotation_counts counts;

    wait_for_child(rotation);
    counts = rotation->counts;
    segment_names_free(rotation->names);
    free(rotation);
    return counts;
}
