// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/call_filter.h"

uint64_t own_limits_memory(enum own_memory kind)
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
