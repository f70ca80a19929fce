// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 4096 }; /* sysfs writes at most a page */

static bool take_number(const char **at, unsigned long *number)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoul(*at, &end, 10);
    *at = end;
    return true;
}

bool cpus_parse(const char *list, bool *online, size_t count)
{
    memset(online, 0, count * sizeof(*online));
    for (const char *at = list;; at++) {
        unsigned long first, last;

        if (!take_number(&at, &first))
            return false;
        last = first;
        if (*at == '-' && (at++, !take_number(&at, &last)))
            return false;
        for (unsigned long cpu = first; cpu <= last && cpu < count; cpu++)
            online[cpu] = true;
        if (*at == '\0' || *at == '\n')
            return true;
        if (*at != ',')
            return false;
    }
}

bool cpus_online(bool *online, size_t count)
{
    char text[LIST_MAX + 1];

    return kernel_setting("/sys/devices/system/cpu/online", text, sizeof(text)) &&
           cpus_parse(text, online, count);
}
