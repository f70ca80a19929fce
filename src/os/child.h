// SPDX-License-Identifier: Apache-2.0
/* Processes that this program forks to work apart from it. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* For a process that fork() has just made: set its name, ignore the signals of the terminal and the
 * user, which are for the program, and close all descriptors but these. Sorts `kept`. */
void child_begin(const char *name, int *kept, size_t count);

/* For a process that fork() has just made: have it killed when its parent, which was `parent`,
 * ends. It ends now if the parent has ended. */
void child_end_with(pid_t parent);

/* Wait for the end of a child that has been killed. It is left behind if it hangs: a process can't
 * end while it has a file open whose server does not answer (fuse_flush() in fs/fuse/file.c). */
void child_await(pid_t pid);

/* Advice where no process or thread can be started. */
#define CHILD_ADVICE                                                                               \
    "raise the limit of processes: pids.max of the control group, or RLIMIT_NPROC (ulimit -u)"

/* Set the error of a process or thread that can't be started: "a thread to read the mappings", of
 * process `pid`. Return -1. */
int child_refused(const char *what, pid_t pid, struct error *error);

/* Check that this program can start as many more processes and threads as reading a VM takes.
 * Return 0, or the errno of the one that can't be started. */
int child_room(void);
/* The same as an error. */
int child_check_room(struct error *error);
