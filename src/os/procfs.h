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

/*
 * Opens files of a hostile target. A path never leads out of the target's root. Only regular files
 * are opened: opening a device or a pipe can have effects or block for ever.
 */

/* Find `path` in the root directory `root` ("/proc/PID/root"). Links are resolved as a process in
 * that root would resolve them. Return a descriptor with O_PATH; -1 if there is no such regular
 * file. */
int procfs_find_in_root(const char *root, const char *path);

/* The same; the file is open for reading. */
int procfs_open_in_root(const char *root, const char *path);

/* Open a folder in the same way, to list it. -1 if there is none. */
int procfs_open_folder_in_root(const char *root, const char *path);

/* Open the file of `fd`, which can have O_PATH, for reading. -1 with errno on failure. */
int procfs_reopen(int fd);

/* Return `path_fd` (O_PATH), or close it and return -1 if it is not of a regular file. */
int procfs_keep_regular(int path_fd);

/* Open the file of `path_fd` (O_PATH) for reading, and close `path_fd`. -1 if `path_fd` is invalid
 * or not of a regular file. */
int procfs_reopen_regular(int path_fd);
