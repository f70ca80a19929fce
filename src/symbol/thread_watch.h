// SPDX-License-Identifier: Apache-2.0
/* How long each thread of a VM runs and waits for a CPU, as the kernel counts it, from the first
 * time it was looked at to the last. */
#pragma once

#include <sys/types.h>

#include "profile/thread_time.h"

struct thread_watch;

/* `profile` is borrowed: the threads become entries of it. */
struct thread_watch *thread_watch_new(pid_t pid, target_id target, struct profile *profile);
void thread_watch_free(struct thread_watch *watch);

/* The threads are entries of this profile from now on, and their times begin where they were last
 * looked at; `target` is that of before in the new profile. What was handed out of the old one is
 * not changed. */
void thread_watch_move(struct thread_watch *watch, struct profile *profile, target_id target);

/* Look at all threads; of those that ended, what was last seen stays. */
void thread_watch_look(struct thread_watch *watch);

/* Append the times of those threads that were seen twice. */
void thread_watch_get(const struct thread_watch *watch, struct thread_times *times);
