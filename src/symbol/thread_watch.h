// SPDX-License-Identifier: Apache-2.0
/* Measures how long each thread of a VM runs and waits for a CPU, by the counters of the kernel,
 * from the first to the last look at the thread. */
#pragma once

#include <sys/types.h>

#include "profile/threads.h"

struct thread_watch;

/* Borrows `profile`. The threads become entries of it. */
struct thread_watch *thread_watch_new(pid_t pid, target_id target, struct profile *profile);
void thread_watch_free(struct thread_watch *watch);

/* The threads become entries of this profile, and their times begin at the last look. `target`: the
 * same target in the new profile. Times that were already returned for the old profile do not
 * change. */
void thread_watch_move(struct thread_watch *watch, struct profile *profile, target_id target);

/* Look at all threads. A thread that has ended keeps its last times. */
void thread_watch_look(struct thread_watch *watch);

/* Append the times of all threads that were seen at least twice. */
void thread_watch_get(const struct thread_watch *watch, struct thread_times *times);
