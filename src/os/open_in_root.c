// SPDX-License-Identifier: Apache-2.0
#include "os/open_in_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* libelf reads whole sections into memory, and a sparse file can have any size. */
#define LARGEST_FILE ((off_t)1 << 31)

int reopen_regular(int path_fd)
{
    struct stat status;
    char path[64];
    int fd = -1;

    if (path_fd < 0)
        return -1;
    if (fstat(path_fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < LARGEST_FILE) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    close(path_fd);
    return fd;
}

int open_in_root(const char *root, const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (root_fd < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    close(root_fd);
    return reopen_regular(fd);
}
