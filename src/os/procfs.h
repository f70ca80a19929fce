// SPDX-License-Identifier: Apache-2.0
/* Whole small files of /proc/PID. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The bytes of /proc/PID/`name` and a NUL after them, malloc'ed; NULL if it can't be read. What
 * lies beyond 8 MB is cut: no file of interest is longer, and a process can choose how long its
 * cmdline is. */
char *procfs_read(pid_t pid, const char *name, size_t *size);
