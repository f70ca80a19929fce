// SPDX-License-Identifier: Apache-2.0
#include "os/probe_holder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/process.h"
#include "os/procfs.h"

enum { DESCRIPTORS_MAX = 1 << 16 }; /* examined in a process */

/* ---- kinds of descriptors ---- */

static bool has_value(const char *text, const char *key, const char *value)
{
    size_t length;
    const char *at = procfs_value(text, key, &length);

    return at && length == strlen(value) && strncmp(at, value, length) == 0;
}

/* bpf_link_show_fdinfo() in kernel/bpf/syscall.c, bpf_uprobe_multi_show_fdinfo() in
 * kernel/trace/bpf_trace.c. A probe of all processes has pid 0. */
enum link_use probe_holder_use(const char *fdinfo, pid_t target)
{
    size_t length;
    const char *pid = procfs_value(fdinfo, "pid", &length);

    if (has_value(fdinfo, "link_type", "uprobe_multi") ||
        has_value(fdinfo, "link_type", "uretprobe_multi")) {
        long number = pid ? strtol(pid, NULL, 10) : 0;

        return number && number != target ? LINK_OTHER : LINK_PROBES;
    }
    if (!has_value(fdinfo, "link_type", "perf"))
        return LINK_OTHER;
    if (!procfs_value(fdinfo, "event_type", &length) || has_value(fdinfo, "event_type", "uprobe") ||
        has_value(fdinfo, "event_type", "uretprobe"))
        return LINK_PROBES;
    return LINK_EVENT;
}

/* ---- the descriptors of a process ---- */

struct held_probes {
    int events, event_links; /* perf events; links that account for one each */
    bool probes;
};

static void add_link(pid_t pid, pid_t target, const char *descriptor, struct held_probes *held)
{
    enum link_use use = LINK_OTHER;
    char name[32];
    size_t size;
    char *text;

    snprintf(name, sizeof(name), "fdinfo/%.16s", descriptor);
    text = procfs_read(pid, name, &size);
    if (text)
        use = probe_holder_use(text, target);
    held->probes |= use == LINK_PROBES;
    held->event_links += use == LINK_EVENT;
    free(text);
}

bool probe_holder_holds(pid_t pid, pid_t target)
{
    struct held_probes held = {0};
    const struct dirent *entry;
    char path[64];
    DIR *directory;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    directory = opendir(path);
    if (!directory)
        return false;
    for (int i = 0; !held.probes && i < DESCRIPTORS_MAX && (entry = readdir(directory)); i++) {
        ssize_t size = readlinkat(dirfd(directory), entry->d_name, path, sizeof(path) - 1);

        path[size > 0 ? size : 0] = '\0';
        if (strcmp(path, "anon_inode:[perf_event]") == 0)
            held.events++;
        else if (strncmp(path, "anon_inode:bpf", 14) == 0 && strstr(path, "link"))
            add_link(pid, target, entry->d_name, &held);
    }
    closedir(directory);
    return held.probes || held.events > held.event_links;
}

pid_t probe_holder(pid_t target, char *name, size_t size)
{
    struct error ignored;
    size_t count;
    pid_t *pids = process_list(&count, &ignored);
    pid_t found = 0;

    for (size_t i = 0; pids && !found && i < count; i++)
        if (pids[i] != getpid() && probe_holder_holds(pids[i], target))
            found = pids[i];
    free(pids);
    if (found)
        process_thread_name(found, found, name, size);
    return found;
}
