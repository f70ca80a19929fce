// SPDX-License-Identifier: Apache-2.0
/*
 * Opens files of a hostile target. A path never leads out of the target's root. Only regular files
 * are opened: opening a device or a pipe can have effects or block for ever.
 */
#pragma once

/* Open `path` in the root directory `root` ("/proc/PID/root") for reading. Links are resolved as a
 * process in that root would resolve them. -1 if there is no such regular file. */
int open_in_root(const char *root, const char *path);

/* Open the file that `path_fd` (O_PATH) refers to for reading, and close `path_fd`. -1 if `path_fd`
 * is invalid or not a regular file. */
int reopen_regular(int path_fd);
