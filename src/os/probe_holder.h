// SPDX-License-Identifier: Apache-2.0
/* Finds OS processes that may have probes attached. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True if the text of /proc/PID/fdinfo/N is that of a BPF link that can hold probes. */
bool link_holds_probes(const char *fdinfo);

/* True if the process has a descriptor that can hold probes: of a BPF link, or of a perf event.
 * False if it may not be read. */
bool process_holds_probes(pid_t pid);

/* Find another process that can hold probes. Return its pid and write its name. 0 if there is none among the processes that may be read. A
 * probe of the kernel's own list (uprobe_events in tracefs) needs no descriptor, and is not
 * found. */
pid_t probe_holder(char *name, size_t size);
