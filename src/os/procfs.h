// SPDX-License-Identifier: Apache-2.0
/* Reads small files of /proc/PID. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Return the bytes of /proc/PID/`name`, malloc'ed, with a NUL after them; NULL if the file can't be
 * read. It is cut after 8 MB: no file of interest is longer, and a process can choose the length of
 * its cmdline. */
char *procfs_read(pid_t pid, const char *name, size_t *size);

/* Return what follows "KEY:\t" at the start of a line of `text`, and its length up to the end of
 * the line; NULL if there is no such line. Files with such lines are status and fdinfo. */
const char *procfs_value(const char *text, const char *key, size_t *length);
