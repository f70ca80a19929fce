// SPDX-License-Identifier: Apache-2.0
/*
 * Limits the files that a process can open (Landlock, Linux 5.13 and later): even root's
 * capabilities do not lead out of the fence. Files that are open already stay usable.
 */
#pragma once

#include <stdbool.h>

struct file_fence;

/* A fence around nothing; NULL if the kernel has none. The functions below accept NULL. */
struct file_fence *file_fence_new(void);
void file_fence_free(struct file_fence *fence);

/* Permit to read the file, or all files in the directory. A path that is NULL or does not exist is
 * left out. */
void file_fence_read(struct file_fence *fence, const char *path);

/* Permit to read the file, and all files in its directory: another file may replace it later. If it
 * is a link, permit the directory of the linked file too. A path that is NULL is left out. */
void file_fence_read_beside(struct file_fence *fence, const char *path);

/* Permit to write, make and remove files in the directory of the file `path` (util/file_place.h),
 * which need not exist yet, and in the directories below. */
void file_fence_write(struct file_fence *fence, const char *path);

/* The same in the directory of the name `path` itself, for files beside it. If `path` is a link,
 * the link is not followed. */
void file_fence_write_beside(struct file_fence *fence, const char *path);

/* The same for a directory. */
void file_fence_write_in(struct file_fence *fence, const char *directory);

/* Put up the fence around this thread and those that it starts later, for good. The process must
 * have set PR_SET_NO_NEW_PRIVS. Return 0, or -1 with errno. */
int file_fence_close(const struct file_fence *fence);

/* ---- process_fence.c ---- */

/*
 * Limits which processes this one can reach on its host (Landlock, Linux 6.12 and later). Without
 * the fence, a process of root can signal all others of root, and connect to the abstract sockets
 * of container runtimes in its network, even without capabilities.
 */

/* Put up the fence around this thread and those that it starts later, for good. They can signal
 * only themselves and children that they start later, and connect to no abstract unix socket but
 * those that they make. The process must have set PR_SET_NO_NEW_PRIVS. Return 0, or -1 with errno.
 */
int process_fence_close(void);
