// SPDX-License-Identifier: Apache-2.0
/* Which container a process is in, told from the names of its cgroups. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Find the id of the container in the text of /proc/PID/cgroup, both v1 ("4:memory:/path" lines)
 * and v2 ("0::/path"). Where containers are nested it is the innermost. False, and `id` untouched,
 * if no cgroup is a container's. */
bool container_of_cgroup(const char *text, char *id, size_t size);
