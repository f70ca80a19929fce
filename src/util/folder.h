// SPDX-License-Identifier: Apache-2.0
/*
 * The folders in which files are written. Other users may change a path, or may have prepared it: a
 * symbolic link in it is followed only if who made it could also have named another folder.
 *
 * The kernel's own rule (fs.protected_symlinks) holds for sticky folders that all can write, and
 * can be turned off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* True for root and this user. */
bool folder_trusts(uid_t owner);

/* True if only this user and root can make names in the folder. The permissions of the group
 * include those of an access control list. */
bool folder_is_private(const struct stat *folder);

/* Open the folder `path`, relative to `from` (AT_FDCWD: the working directory), with O_PATH. -1
 * with errno. A symbolic link in the path must belong to root, to this user, or, if nobody else
 * can write to the folder of the link, to the folder's owner. For any other link errno is EPERM,
 * and *ret_refused is its name, to be freed; otherwise *ret_refused is NULL.
 *
 * If the path is held, the result is the folder that it was; errno is ESTALE if the path does not
 * lead there any more. */
int folder_open(int from, const char *path, char **ret_refused);

/* ---- folders whose path must not lead elsewhere later ---- */

/* Open and hold the folder. Return its descriptor, which folder_release() closes; -1 with errno,
 * and nothing is held. */
int folder_hold(const char *path);
void folder_release(const char *path);

/* Set the descriptors of all held folders unless `fds` is NULL. Return their number. */
size_t folders_held(int *fds);

/* Return the text of an errno of these functions. */
const char *folder_problem(int code);
