// SPDX-License-Identifier: Apache-2.0
/*
 * Finds OS processes that may have probes attached to a target.
 *
 * Probes belong to descriptors of BPF links and of perf events. /proc/PID/fdinfo/N describes them.
 * In newer kernels it names the target of a link. It never describes a perf event, so a perf event
 * without a link may be a probe. Probes of the kernel's own list (uprobe_events in tracefs) need no
 * descriptor, and are not found.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum link_use {
    LINK_OTHER,  /* no probe */
    LINK_EVENT,  /* on a perf event that is no probe: a clock */
    LINK_PROBES, /* probes of the target, or perhaps */
};

/* What the text of /proc/PID/fdinfo/N of a BPF link says. */
enum link_use probe_holder_use(const char *fdinfo, pid_t target);

/* True if the process may have probes attached to `target`. False if it may not be read. */
bool probe_holder_holds(pid_t pid, pid_t target);

/* Find a process, other than this one, that may have probes attached to `target`. Return its pid
 * and write its name; 0 if there is none. */
pid_t probe_holder(pid_t target, char *name, size_t size);
