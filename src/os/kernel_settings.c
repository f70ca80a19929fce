// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_settings.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/capabilities.h"

unsigned int kernel_release_parse(const char *text)
{
    unsigned int major, minor;

    if (sscanf(text, "%3u.%3u", &major, &minor) != 2 || major > 255 || minor > 255)
        return 0;
    return KERNEL_RELEASE(major, minor);
}

unsigned int kernel_release(void)
{
    struct utsname name;

    return uname(&name) ? 0 : kernel_release_parse(name.release);
}

bool kernel_setting(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

bool kernel_setting_number(const char *path, long *number)
{
    char text[32], *end;
    long value;

    if (!kernel_setting(path, text, sizeof(text)))
        return false;
    value = strtol(text, &end, 10);
    if (end == text || *end)
        return false;
    *number = value;
    return true;
}

bool kernel_has_tracefs(void)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    struct statfs status;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (statfs(places[i], &status) == 0 && status.f_type == TRACEFS_MAGIC)
            return true;
    return false;
}
