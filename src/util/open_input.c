// SPDX-License-Identifier: Apache-2.0
#include "util/open_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder is readable, too: reading it has its own error. */
static bool is_input(mode_t mode, bool pipes)
{
    return S_ISREG(mode) || S_ISDIR(mode) || (pipes && S_ISFIFO(mode));
}

static int refused(const char *path, bool pipes, struct error *error)
{
    return error_set(error, ERROR_FAILED, "'%s' is not a regular file%s", path,
                     pipes ? " or a pipe" : "");
}

int open_input(const char *path, bool pipes, struct error *error)
{
    struct stat status;
    int fd = -1;

    if (stat(path, &status) == 0) {
        if (!is_input(status.st_mode, pipes))
            return refused(path, pipes, error);
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (fd < 0 || fstat(fd, &status)) {
        error_set(error, ERROR_FAILED, "can't read '%s': %s", path, strerror(errno));
    } else if (!is_input(status.st_mode, pipes)) {
        refused(path, pipes, error); /* it was replaced meanwhile */
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}
