// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/call_filter.h"

/* Read the file's beginning as a text; false if it can't be read. */
static bool read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, room - 1);

    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

uint64_t own_limits_memory(enum own_memory kind)
{
    char text[128], *at = text;
    unsigned long pages = 0;

    if (read_text("/proc/self/statm", text, sizeof(text)))
        for (int i = 0; i < (int)kind; i++)
            pages = strtoul(at, &at, 10);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t own_limits_group_memory(void)
{
    char groups[4096], path[4200], text[32];
    char *group =
        read_text("/proc/self/cgroup", groups, sizeof(groups)) ? strstr(groups, "0::/") : NULL;
    char *end;
    uint64_t bytes;

    if (!group)
        return UINT64_MAX;
    group += strlen("0::");
    snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s/memory.max", (int)strcspn(group, "\n"), group);
    if (!read_text(path, text, sizeof(text)))
        return UINT64_MAX;
    bytes = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : bytes; /* "max" */
}

void own_limits_set(int resource, uint64_t value)
{
    setrlimit(resource, &(struct rlimit){value, value});
}

void own_limits_set_room(uint64_t bytes)
{
    uint64_t has = own_limits_memory(OWN_ADDRESS_SPACE);

    if (!CALL_FILTER_IS_MISSING && has)
        own_limits_set(RLIMIT_AS, has + bytes);
}
