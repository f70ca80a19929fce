// SPDX-License-Identifier: Apache-2.0
/* Finds the container of an OS process by the names of its cgroups. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Find the id of the container in the text of /proc/PID/cgroup, v1 ("4:memory:/path" lines) or v2
 * ("0::/path"). Of nested containers it is the innermost. False, with `id` unchanged, if no cgroup
 * is a container's. */
bool container_of_cgroup(const char *text, char *id, size_t size);
