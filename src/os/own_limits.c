// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t own_memory(enum own_memory kind)
{
    char text[128] = "", *at = text;
    unsigned long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
        for (int i = 0; i < (int)kind; i++)
            pages = strtoul(at, &at, 10);
    if (fd >= 0)
        close(fd);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void own_limit(int resource, uint64_t value)
{
    setrlimit(resource, &(struct rlimit){value, value});
}
