// SPDX-License-Identifier: Apache-2.0
#include "os/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/procfs.h"

enum { DEPTH_MAX = 8 }; /* the pid of a process that has ended may be another's by now */

/* Add what a process costs. One that has ended meanwhile adds nothing. */
typedef void (*cost)(pid_t pid, uint64_t *sum);

/* Add the cost of the process, and of those that it started. */
static bool add_family(pid_t pid, cost add, int depth, uint64_t *sum)
{
    char name[64];
    size_t size;
    char *children, *at, *end;

    snprintf(name, sizeof(name), "task/%d/children", (int)pid);
    children = procfs_read(pid, name, &size);
    add(pid, sum);
    if (!children)
        return false;
    for (at = children; depth < DEPTH_MAX; at = end) {
        pid_t child = (pid_t)strtol(at, &end, 10);

        if (end == at)
            break;
        add_family(child, add, depth + 1, sum);
    }
    free(children);
    return true;
}

/* ---- CPU time ---- */

/* The values 14 to 17 of proc(5), /proc/PID/stat: of the process, and of children that it has
 * waited for. The name, value 2, can contain anything: its end is the last ')'. */
static void add_cpu_time(pid_t pid, uint64_t *ticks)
{
    unsigned long long user, system, children_user, children_system;
    size_t size;
    char *stat = procfs_read(pid, "stat", &size), *name_end = stat ? strrchr(stat, ')') : NULL;

    if (name_end &&
        sscanf(name_end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
               &user, &system, &children_user, &children_system) == 4)
        *ticks += user + system + children_user + children_system;
    free(stat);
}

bool family_cpu_time(pid_t pid, uint64_t *ns)
{
    uint64_t ticks = 0;

    if (!add_family(pid, add_cpu_time, 0, &ticks))
        return false;
    *ns = ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    return true;
}

/* ---- memory ---- */

static void add_memory(pid_t pid, uint64_t *kilobytes)
{
    size_t size;
    char *rollup = procfs_read(pid, "smaps_rollup", &size);
    const char *value = rollup ? strstr(rollup, "\nPss:") : NULL;

    if (value)
        *kilobytes += strtoull(value + strlen("\nPss:"), NULL, 10);
    free(rollup);
}

bool family_memory(pid_t pid, uint64_t *bytes)
{
    uint64_t kilobytes = 0;

    if (!add_family(pid, add_memory, 0, &kilobytes))
        return false;
    *bytes = kilobytes * 1024;
    return true;
}
