// SPDX-License-Identifier: Apache-2.0
/*
 * Opening files of a target that may be hostile: never out of its root, and nothing but regular
 * files, since to open a device or a pipe can have effects, or never return.
 */
#pragma once

/* Open what `path` names in the root directory `root` ("/proc/PID/root") for reading, links
 * resolved as a process in that root would. -1 if it is not there or not a regular file. */
int open_in_root(const char *root, const char *path);

/* Open what `path_fd` (O_PATH) refers to for reading, and close `path_fd`. -1 if that is not valid
 * or not a regular file. */
int reopen_regular(int path_fd);
