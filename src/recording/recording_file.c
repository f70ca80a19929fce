// SPDX-License-Identifier: Apache-2.0
/* Files that recordings are written to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/file_broker.h"
#include "recording/recording.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/log.h"

/* The descriptor of a new unnamed file in the directory, or -1 with errno. */
static int create_unnamed_in(const char *directory)
{
    char *path;
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    /* Not every file system has O_TMPFILE (overlayfs has it since Linux 6.1). */
    path = xasprintf("%s/beamflame.XXXXXX", directory);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

#define MEMORY_NAME "beamflame-recording"

/* The same in the first directory that has room for a name, or else in memory, as on a host whose
 * disks are read-only. */
static int create_unnamed(const char *directory, struct error *error)
{
    const char *const directories[] = RECORDING_PLACES(directory);
    int fd = -1;

    if (file_broker_is_asked())
        return file_broker_temporary(error);
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && fd < 0; i++) {
        fd = create_unnamed_in(directories[i]);
        if (fd < 0)
            log_decision("recording", "can't create a temporary file in %s: %s", directories[i],
                         strerror(errno));
    }
    if (fd < 0)
        fd = memfd_create(MEMORY_NAME, MFD_CLOEXEC);
    if (fd < 0)
        error_set(error, ERROR_FAILED, "can't create a temporary file in memory: %s",
                  strerror(errno));
    return fd;
}

bool recording_writer_is_in_memory(int fd)
{
    static const char name[] = "/memfd:" MEMORY_NAME;
    char path[40], target[sizeof(name)];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return readlink(path, target, sizeof(target)) >= (ssize_t)sizeof(name) - 1 &&
           !memcmp(target, name, sizeof(name) - 1);
}

/* The descriptor of a new file that has its name from the beginning. A file that has the name is
 * replaced, not truncated: it may have other names. */
static int create_named(const char *path, struct error *error)
{
    struct file_place place;
    char *temporary;
    int fd, code;

    if (file_place_open(path, &place, error))
        return -1;
    fd = place.in_place ? -1 : file_place_create(&place, O_RDWR, &temporary);
    code = place.in_place ? EINVAL : errno;
    if (fd >= 0) {
        if (file_place_publish(&place, temporary)) {
            code = errno;
            file_place_remove(&place, temporary);
            close(fd);
            fd = -1;
        }
        free(temporary);
    }
    if (fd < 0)
        error_set(error, ERROR_FAILED, "can't create %s: %s", path, strerror(code));
    file_place_close(&place);
    return fd;
}

int recording_writer_file(const char *path, const char *directory, struct error *error)
{
    return path ? create_named(path, error) : create_unnamed(directory, error);
}
