// SPDX-License-Identifier: Apache-2.0
#include "rotation/recording_pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/recording.h"
#include "recording/recording_join.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"
#include "util/file_place.h"

void recording_pieces_add(struct recording_pieces *pieces, int fd, uint64_t bytes)
{
    if (fd < 0)
        return;
    pieces->fds = xgrow(pieces->fds, &pieces->room, pieces->count, sizeof(*pieces->fds));
    pieces->fds[pieces->count++] = fd;
    pieces->bytes += bytes;
}

int *recording_pieces_duplicate(const struct recording_pieces *pieces, struct error *error)
{
    int *fds = xcalloc(pieces->count, sizeof(*fds));

    for (size_t i = 0; i < pieces->count; i++) {
        fds[i] = fcntl(pieces->fds[i], F_DUPFD_CLOEXEC, 3);
        if (fds[i] >= 0)
            continue;
        error_set(error, ERROR_FAILED, "a piece of the recording can't be read: %s",
                  strerror(errno));
        while (i--)
            close(fds[i]);
        free(fds);
        return NULL;
    }
    return fds;
}

/* Join duplicates of the pieces into `file`, which is taken over. */
static int join_into(const struct recording_pieces *pieces, int file, int *ret_fd,
                     struct error *error)
{
    struct join_part *parts = xcalloc(pieces->count, sizeof(*parts));
    const struct join_options options = {.order = JOIN_BY_TIME};
    int result;

    for (size_t i = 0; i < pieces->count; i++) {
        parts[i] = (struct join_part){fcntl(pieces->fds[i], F_DUPFD_CLOEXEC, 3),
                                      "a piece of the recording"};
    }
    result = recording_join(parts, pieces->count, &options, file, ret_fd, error);
    free(parts);
    if (result && *ret_fd >= 0) {
        close(*ret_fd);
        *ret_fd = -1;
    }
    return result;
}

/* Join into a new file, which then replaces the first piece at its name. */
static int join_at(const struct recording_pieces *pieces, const char *path, int *ret_fd,
                   struct error *error)
{
    struct file_place place;
    char *temporary;
    int file, result;

    if (file_place_open(path, &place, error))
        return -1;
    file = file_place_create(&place, O_RDWR, &temporary);
    if (file < 0) {
        error_set(error, ERROR_FAILED, "can't create %s: %s", path, strerror(errno));
        file_place_close(&place);
        return -1;
    }
    result = join_into(pieces, file, ret_fd, error);
    if (!result && file_place_publish(&place, temporary)) {
        result = error_set(error, ERROR_FAILED, "can't write %s: %s", path, strerror(errno));
        close(*ret_fd);
    }
    if (result)
        file_place_remove(&place, temporary);
    free(temporary);
    file_place_close(&place);
    return result;
}

static int join(const struct recording_pieces *pieces, const struct recording_place *place,
                int *ret_fd, struct error *error)
{
    int file;

    if (place->path)
        return join_at(pieces, place->path, ret_fd, error);
    file = recording_writer_file(NULL, place->temporary, error);
    return file < 0 ? -1 : join_into(pieces, file, ret_fd, error);
}

/* The first piece has its name already, if there is one. */
static void keep_pieces(const struct recording_pieces *pieces, const struct recording_place *place,
                        warn_function warn)
{
    for (size_t i = place->path ? 1 : 0; i < pieces->count; i++) {
        struct error error;
        char *kept = recording_keep(pieces->fds[i], place->temporary, &error);

        if (kept)
            warn("a piece of the recording, between pauses or snapshots, is kept in %s", kept);
        else
            warn("a piece of the recording, between pauses or snapshots, is lost: %s", error.text);
        free(kept);
    }
}

int recording_pieces_take(struct recording_pieces *pieces, const struct recording_place *place,
                          warn_function warn, struct error *error)
{
    int fd = -1;

    for (size_t i = 0; i < pieces->count; i++)
        lseek(pieces->fds[i], 0, SEEK_SET); /* processes that wrote snapshots have read them */
    if (pieces->count == 1) {
        fd = pieces->fds[0];
        pieces->count = 0;
    } else if (pieces->count && join(pieces, place, &fd, error)) {
        keep_pieces(pieces, place, warn);
        fd = -1;
    }
    for (size_t i = 0; i < pieces->count; i++)
        close(pieces->fds[i]);
    free(pieces->fds);
    *pieces = (struct recording_pieces){0};
    return fd;
}
