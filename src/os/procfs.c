// SPDX-License-Identifier: Apache-2.0
#include "os/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
