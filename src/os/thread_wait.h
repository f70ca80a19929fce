// SPDX-License-Identifier: Apache-2.0
/*
 * Finds out if a thread or process of this program hangs in one wait in the kernel. Time alone does
 * not show it: the thread may have no CPU on a busy machine, the program may be stopped, or the
 * thread may wait often for a slow disk.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* All zero at first. */
struct thread_wait {
    pid_t tid;
    uint64_t switches; /* of the thread, when it began the wait */
    unsigned int looks;
};

/* Look at the thread. Return how many looks in a row, this one included, have found it in one
 * wait: 0 if it is in none. */
unsigned int thread_wait_look(struct thread_wait *wait, pid_t tid);

/* The same by an open /proc/TID/status. */
unsigned int thread_wait_look_at(struct thread_wait *wait, pid_t tid, int status);
