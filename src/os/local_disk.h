// SPDX-License-Identifier: Apache-2.0
/* Tells files on disks or in memory of this machine from others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if the file or folder of `fd`, which can have O_PATH, always answers: no file server has it.
 * The question itself can wait for a server. */
bool local_disk_has(int fd);

/* The same by the mount of `fd`. Asks no server. */
bool local_disk_has_mount_of(int fd);

/* True for the name of such a file system in mountinfo (proc_pid_mountinfo(5)). */
bool local_disk_is_type(const char *name, size_t size);
