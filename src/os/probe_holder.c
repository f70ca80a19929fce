// SPDX-License-Identifier: Apache-2.0
#include "os/probe_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/process.h"
#include "os/procfs.h"

enum { DESCRIPTORS_MAX = 1 << 16 }; /* looked at in a process */

bool link_holds_probes(const char *fdinfo)
{
    static const char key[] = "link_type:\t";
    const char *at = strstr(fdinfo, key);
    size_t size = at ? strcspn(at += sizeof(key) - 1, "\n") : 0;

    return (size == 10 && strncmp(at, "perf_event", size) == 0) ||
           (size == 12 && strncmp(at, "uprobe_multi", size) == 0);
}

static bool link_of(pid_t pid, const char *descriptor)
{
    char name[32];
    size_t size;
    char *text;
    bool holds;

    snprintf(name, sizeof(name), "fdinfo/%.16s", descriptor);
    text = procfs_read(pid, name, &size);
    holds = text && link_holds_probes(text);
    free(text);
    return holds;
}

static bool descriptor_holds(pid_t pid, int directory, const char *descriptor)
{
    char target[64];
    ssize_t size = readlinkat(directory, descriptor, target, sizeof(target) - 1);

    if (size <= 0)
        return false;
    target[size] = '\0';
    if (strcmp(target, "anon_inode:[perf_event]") == 0)
        return true;
    return strncmp(target, "anon_inode:bpf", 14) == 0 && strstr(target, "link") &&
           link_of(pid, descriptor);
}

bool process_holds_probes(pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    bool holds = false;
    DIR *directory;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    directory = opendir(path);
    if (!directory)
        return false;
    for (int i = 0; !holds && i < DESCRIPTORS_MAX && (entry = readdir(directory)); i++)
        holds = descriptor_holds(pid, dirfd(directory), entry->d_name);
    closedir(directory);
    return holds;
}

pid_t probe_holder(char *name, size_t size)
{
    struct error ignored;
    size_t count;
    pid_t *pids = process_list(&count, &ignored);
    pid_t found = 0;

    for (size_t i = 0; pids && !found && i < count; i++)
        if (pids[i] != getpid() && process_holds_probes(pids[i]))
            found = pids[i];
    free(pids);
    if (found)
        process_thread_name(found, found, name, size);
    return found;
}
