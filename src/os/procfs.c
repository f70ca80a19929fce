// SPDX-License-Identifier: Apache-2.0
#include "os/procfs.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/alloc.h"

enum { FIRST_SIZE = 4096, LARGEST_SIZE = 8 << 20 };

char *procfs_read(pid_t pid, const char *name, size_t *size)
{
    size_t room = FIRST_SIZE;
    size_t used = 0;
    ssize_t got;
    char path[64];
    char *text;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    text = xmalloc(room + 1);
    while ((got = read(fd, text + used, room - used)) > 0) {
        used += (size_t)got;
        if (used == LARGEST_SIZE)
            break;
        if (used == room)
            text = xrealloc(text, (room *= 2) + 1);
    }
    close(fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

const char *procfs_value(const char *text, const char *key, size_t *length)
{
    size_t size = strlen(key);

    for (const char *line = text; *line;) {
        size_t rest = strcspn(line, "\n");

        if (strncmp(line, key, size) == 0 && strncmp(line + size, ":\t", 2) == 0) {
            *length = rest - size - 2;
            return line + size + 2;
        }
        line += rest + (line[rest] == '\n');
    }
    return NULL;
}

/* libelf reads whole sections into memory, and a sparse file can have any size. */
#define LARGEST_FILE ((off_t)1 << 31)

int procfs_keep_regular(int path_fd)
{
    struct stat status;

    if (path_fd < 0)
        return -1;
    if (fstat(path_fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < LARGEST_FILE)
        return path_fd;
    close(path_fd);
    return -1;
}

int procfs_reopen(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

int procfs_reopen_regular(int path_fd)
{
    int kept = procfs_keep_regular(path_fd), fd = kept >= 0 ? procfs_reopen(kept) : -1;

    if (kept >= 0)
        close(kept);
    return fd;
}

/* Open a path in the root directory `root` with these flags. -1 on failure. */
static int open_in_root(const char *root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (__u64)(flags | O_CLOEXEC),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (root_fd < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    close(root_fd);
    return fd;
}

int procfs_find_in_root(const char *root, const char *path)
{
    return procfs_keep_regular(open_in_root(root, path, O_PATH));
}

int procfs_open_folder_in_root(const char *root, const char *path)
{
    return open_in_root(root, path, O_RDONLY | O_DIRECTORY);
}

int procfs_open_in_root(const char *root, const char *path)
{
    int path_fd = procfs_find_in_root(root, path), fd = path_fd >= 0 ? procfs_reopen(path_fd) : -1;

    if (path_fd >= 0)
        close(path_fd);
    return fd;
}
