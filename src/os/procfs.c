// SPDX-License-Identifier: Apache-2.0
#include "os/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
