// SPDX-License-Identifier: Apache-2.0
#include "rotation/segments_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/confined.h"
#include "os/courier.h"
#include "os/descriptors.h"
#include "os/file_broker.h"
#include "os/privileges.h"
#include "output/formats.h"
#include "output/output.h"
#include "recording/recording.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/folder.h"
#include "util/memory_limit.h"

/* Close all other descriptors, apart from those of the folders. Descriptors of probes must not
 * outlive the process that opened them. `log_file`: as in struct rotation_reports. */
static void keep_only(const struct segment_source *source, int log_file)
{
    size_t count = source->count;
    int *kept = xcalloc(count + folders_held(NULL) + 5, sizeof(*kept));

    memcpy(kept, source->fds, count * sizeof(*kept));
    count += folders_held(kept + count);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        kept[count++] = fd;
    if (source->file >= 0)
        kept[count++] = source->file;
    if (log_file >= 0)
        kept[count++] = log_file;
    (void)descriptors_keep_only(kept, count);
    free(kept);
}

static int rename_recording(const char *temporary, const char *recording, int fd,
                            struct error *error)
{
    if (file_place_rename(temporary, recording))
        return error_set(error, ERROR_FAILED, "can't write %s: %s", recording,
                         folder_problem(errno));
    file_place_open_up(fd);
    return 0;
}

/* Give the recording, which `fd` reads, its requested name. Return the exit code. */
static int publish(const struct segment_context *context, const char *temporary,
                   const char *recording, int fd)
{
    struct error error;

    if (courier_has(recording) ? courier_deliver(recording, fd, &error)
                               : rename_recording(temporary, recording, fd, &error))
        return segment_source_report(context, &error);
    context->reports->wrote(context->reports->context, recording);
    return 0;
}

/* Report the written outputs, except the statistics, and those that are empty. Return the exit
 * code. */
static int report_outputs(const struct rotation_reports *reports,
                          const struct output_result *result, const char *statistics)
{
    int code = 0;

    for (size_t i = 0; i < result->path_count; i++)
        if (!statistics || strcmp(result->paths[i], statistics))
            reports->wrote(reports->context, result->paths[i]);
    for (size_t i = 0; i < result->empty_count; i++) {
        reports->empty(reports->context, &result->empty[i]);
        if (!result->empty[i].request->optional)
            code = ERROR_NO_SAMPLES;
    }
    return code;
}

/* A segment that is being written. */
struct writing {
    const struct segment_context *context;
    const struct segment_source *source;
    struct output_request *requests; /* with the names of this segment; also of the statistics */
    size_t count;
    char *statistics; /* their path, or NULL */
    char *recording;  /* the requested name; NULL: none */
    bool taken;       /* take_recording() was called */
    int published;    /* exit code of publish() */
    int fd;           /* reads the recording; -1: not taken, or it can't be read */
};

/* Memory is not freed, because the process ends. */
static struct writing segment_of(const struct segment_context *context,
                                 const struct segment_source *source)
{
    const struct segment_files *files = context->files;
    struct writing segment = {
        .context = context,
        .source = source,
        .requests = xcalloc(files->request_count + 1, sizeof(*segment.requests)),
        .count = files->request_count,
        .statistics = segment_names_statistics(context->names, source->time),
        .recording = segment_names_recording(context->names, source->time),
        .fd = -1,
    };

    for (size_t i = 0; i < segment.count; i++) {
        segment.requests[i] = files->requests[i];
        segment.requests[i].path = segment_names_output(context->names, i, source->time);
    }
    if (segment.statistics)
        segment.requests[segment.count++] =
            (struct output_request){.path = segment.statistics, .format = &stats_json_format};
    return segment;
}

static bool permits(void *data, const char *path)
{
    const struct writing *segment = data;

    return output_check_path(segment->requests, segment->count, path);
}

/* Make the recording complete, and give it its name before anything reads it. Return a descriptor
 * that reads it, or -1 with error. */
static int take_recording(void *data, const char *name, struct error *error)
{
    struct writing *segment = data;
    const struct segment_context *context = segment->context;

    (void)name;
    segment->taken = true;
    segment->fd = segment_source_open(context, segment->source, error);
    if (segment->fd < 0)
        return -1;
    if (segment->recording) {
        char *temporary = segment_names_temporary(context->names, segment->source->time);

        segment->published = publish(context, temporary, segment->recording, segment->fd);
        free(temporary);
    }
    return fcntl(segment->fd, F_DUPFD_CLOEXEC, 3);
}

/* Write the outputs, in a process with nothing. Return the exit code. */
static int write_outputs(void *data)
{
    const struct writing *segment = data;
    const struct segment_context *context = segment->context;
    const char *name = segment->recording ? segment->recording : "the recording";
    struct recording *recording;
    struct output_result result;
    struct error error;
    int fd = file_broker_input(name, &error);

    recording = fd < 0 ? NULL : recording_open(fd, name, &error);
    if (!recording || output_write(recording, context->files->settings, segment->requests,
                                   segment->count, &result, &error))
        return segment_source_report(context, &error);
    return report_outputs(context->reports, &result, segment->statistics);
}

static void permit_beside(struct file_fence *fence, const char *path)
{
    if (path && !courier_has(path))
        file_fence_write_beside(fence, path);
}

/* A fence around the files of all segments. */
static struct file_fence *fence_around(const struct segment_files *files)
{
    struct file_fence *fence = file_fence_new();

    permit_beside(fence, files->recording);
    for (size_t i = 0; i < files->request_count; i++)
        permit_beside(fence, files->requests[i].path);
    permit_beside(fence, files->stats_path);
    recording_keep_permit_places(fence, files->temporary);
    return fence;
}

/* Return the exit code. *ret_died: the process that writes the outputs has died. */
static int write_apart(struct writing *segment, bool *ret_died)
{
    const struct segment_context *context = segment->context;
    const struct confined_work work = {
        .run = write_outputs,
        .context = segment,
        .files = {segment, permits, take_recording, NULL},
        .fence = fence_around(context->files),
        .memory = memory_limit_of_outputs(),
        .log_file = context->reports->log_file,
    };
    struct confined_end end;
    struct error error;

    *ret_died = confined_run(&work, &end, &error) != 0;
    return *ret_died ? segment_source_report(context, &error) : end.code;
}

/* Take the recording if the process that writes the outputs did not ask for it. */
static int take_anyway(struct writing *segment)
{
    struct error error;
    int fd;

    if (segment->taken)
        return 0;
    fd = take_recording(segment, "", &error);
    if (fd < 0)
        return segment_source_report(segment->context, &error);
    close(fd);
    return 0;
}

/* ---- folders of file servers ---- */

/* Start the process that writes there. A process for each segment: the server may answer again. */
static void start_courier(const struct segment_context *context)
{
    const struct segment_files *files = context->files;
    struct error ignored; /* writing reports it */

    if (!segment_names_remote(context->names))
        return;
    if (files->recording)
        courier_look(files->recording, &ignored);
    for (size_t i = 0; i < files->request_count; i++)
        courier_look(files->requests[i].path, &ignored);
    if (files->stats_path)
        courier_look(files->stats_path, &ignored);
}

static void clean_remote(void *data)
{
    const struct writing *segment = data;
    const struct segment_context *context = segment->context;

    segment_names_remove_leftovers(context->names, SEGMENT_FOLDERS_REMOTE);
    if (context->files->keep)
        segment_names_remove_old(context->names, SEGMENT_FOLDERS_REMOTE, context->files->keep,
                                 segment->source->time);
}

/* Remove old segments, and files that killed processes have left. */
static void clean(struct writing *segment)
{
    const struct segment_context *context = segment->context;
    const char *remote = segment_names_remote(context->names);
    struct error ignored; /* the next segment removes it */

    if (context->files->keep)
        segment_names_remove_old(context->names, SEGMENT_FOLDERS_LOCAL, context->files->keep,
                                 segment->source->time);
    if (remote)
        courier_run(clean_remote, segment, remote, &ignored);
}

/* ---- the segment ---- */

static void report_kept(const struct writing *segment)
{
    const struct segment_context *context = segment->context;

    if (segment->recording && !segment->published && courier_has(segment->recording))
        context->reports->warn("the recording of that segment is kept in %s", segment->recording);
    else
        segment_source_keep_as(context, segment->source, segment->fd);
}

/* Return the exit code. Memory is not freed, because the process ends. */
static int write_segment(const struct segment_context *context, const struct segment_source *source)
{
    struct writing segment = segment_of(context, source);
    bool died = false;
    int written = 0, taken;

    start_courier(context);
    if (segment.count)
        written = write_apart(&segment, &died);
    else
        privileges_render(fence_around(context->files));
    taken = take_anyway(&segment);
    written = written ? written : taken;
    if (!segment.recording && (written == 0 || written == ERROR_NO_SAMPLES))
        segment_names_remove_temporary(context->names, source->time);
    else if (segment.fd >= 0 && (died || !segment.recording || segment.published))
        report_kept(&segment);
    clean(&segment);
    return segment.published ? segment.published : written;
}

noreturn void segment_writer_run(const struct segment_context *context,
                                 const struct segment_source *source)
{
    /* The signals are for the process that samples, but a terminal sends them to all. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    courier_renew();
    keep_only(source, context->reports->log_file);
    _exit(write_segment(context, source));
}
