// SPDX-License-Identifier: Apache-2.0
#include "rotation/segments_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/courier.h"
#include "recording/recording_join.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"
#include "util/optional_text.h"

struct segment_source *segment_source_new(struct segment_time time, const int *fds, size_t count,
                                          const char *trigger, int file)
{
    struct segment_source *source = xcalloc(1, sizeof(*source));

    *source = (struct segment_source){.time = time,
                                      .fds = xcalloc(count, sizeof(*fds)),
                                      .count = count,
                                      .trigger = optional_text_copy(trigger),
                                      .file = file};
    memcpy(source->fds, fds, count * sizeof(*fds));
    return source;
}

void segment_source_free(struct segment_source *source)
{
    if (!source)
        return;
    for (size_t i = 0; i < source->count; i++)
        close(source->fds[i]);
    if (source->file >= 0)
        close(source->file);
    free(source->fds);
    free(source->trigger);
    free(source);
}

int segment_source_report(const struct segment_context *context, const struct error *error)
{
    context->reports->failed(context->reports->context, error);
    return (int)error->code;
}

/* A file server that has the folder gets a copy only. */
static bool has_name(const char *path, int fd)
{
    return !courier_has(path) && recording_keep_is_at(path, fd);
}

/* A duplicate that reads from the start; another process may have read from `fd`. -1 with errno. */
static int duplicate(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (copy >= 0)
        lseek(copy, 0, SEEK_SET);
    return copy;
}

/* Join the pieces. Return a descriptor that reads the result, or -1 with error. */
static int join(const struct segment_context *context, const struct segment_source *source,
                struct error *error)
{
    struct join_part *pieces = xcalloc(source->count, sizeof(*pieces));
    const struct join_options options = {.trigger = source->trigger};
    int file = duplicate(source->file), fd = -1, failed;

    for (size_t i = 0; i < source->count; i++)
        pieces[i] = (struct join_part){duplicate(source->fds[i]), "a kept segment"};
    (void)!ftruncate(file, 0); /* what a process that was killed has written */
    failed = recording_join(pieces, source->count, &options, file, &fd, error);
    if (failed && fd >= 0)
        segment_source_report(context, error);
    free(pieces);
    return fd;
}

int segment_source_open(const struct segment_context *context, const struct segment_source *source,
                        struct error *error)
{
    int fd;

    if (source->file >= 0)
        return join(context, source, error);
    fd = duplicate(source->fds[0]);
    return fd < 0 ? error_set(error, ERROR_FAILED, "can't read a segment: %s", strerror(errno))
                  : fd;
}

void segment_source_keep_as(const struct segment_context *context,
                            const struct segment_source *source, int fd)
{
    char *names[] = {segment_names_recording(context->names, source->time),
                     segment_names_temporary(context->names, source->time)};
    struct error error;
    char *kept = NULL;

    for (size_t i = 0; i < 2; i++) {
        if (!kept && names[i] && has_name(names[i], fd))
            kept = xstrdup(names[i]);
        free(names[i]);
    }
    if (!kept) {
        kept = recording_keep(fd, context->files->temporary, &error);
        if (kept && context->copies)
            kept_copies_add(context->copies, kept);
    }
    if (kept)
        context->reports->warn("the recording of that segment is kept in %s", kept);
    else
        segment_source_report(context, &error);
    free(kept);
}

void segment_source_keep(const struct segment_context *context, const struct segment_source *source)
{
    struct error error;
    int fd = segment_source_open(context, source, &error);

    if (fd < 0) {
        segment_source_report(context, &error);
        return;
    }
    segment_source_keep_as(context, source, fd);
    close(fd);
}

void segment_source_keep_of_killed(const struct segment_context *context,
                                   const struct segment_source *source)
{
    char *recording = segment_names_recording(context->names, source->time);

    if (source->file < 0)
        segment_source_keep_as(context, source, source->fds[0]);
    else if (recording && has_name(recording, source->file))
        segment_source_keep_as(context, source, source->file);
    else
        segment_source_keep(context, source);
    free(recording);
}
