// SPDX-License-Identifier: Apache-2.0
/* The memory of this process, and its limits. */
#pragma once

#include <stdint.h>

/* The number of a field in /proc/self/statm (proc_pid_statm(5)). */
enum own_memory {
    OWN_ADDRESS_SPACE = 1, /* RLIMIT_AS limits it */
    OWN_DATA = 6,          /* private memory; RLIMIT_DATA limits it */
};

/* Return the bytes that this process has; 0 if they can't be read. */
uint64_t own_limits_memory(enum own_memory kind);

/* Return the bytes that this process' control group may have, all its processes together
 * (memory.max of cgroup v2). UINT64_MAX: no limit, or it is not known. */
uint64_t own_limits_group_memory(void);

/* Set both the soft and the hard limit. */
void own_limits_set(int resource, uint64_t value);

/* Let this process take at most so many bytes of address space beyond those that it has. A build
 * with sanitizers gets no limit: they reserve terabytes. */
void own_limits_set_room(uint64_t bytes);
