// SPDX-License-Identifier: Apache-2.0
/* What threads do at a sample: what the files of this folder share. */
#pragma once

#include <sys/types.h>

#include "beam/layout.h"
#include "beam/vm.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "profile/threads.h"
#include "symbol/frames_internal.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"
#include "wire.h"

/* ---- thread_cache.c ---- */

/* Finds or creates the profile's entries of OS threads, from samples. */

struct thread_cache;

/* Borrows `vm` and `profile`. */
struct thread_cache *thread_cache_new(const struct vm *vm, struct profile *profile,
                                      target_id target);
void thread_cache_free(struct thread_cache *cache);

/* Create entries in this profile from now on. */
void thread_cache_move(struct thread_cache *cache, struct profile *profile, target_id target);

/* The entry of the thread that was sampled. */
thread_id thread_cache_get(struct thread_cache *cache, const struct wire_sample *wire);

/* ---- thread_watch.c ---- */

/* Measures how long each thread of a VM runs and waits for a CPU, by the counters of the kernel,
 * from the first to the last look at the thread. */

struct thread_watch;

/* Borrows `profile`. The threads become entries of it. */
struct thread_watch *thread_watch_new(pid_t pid, target_id target, struct profile *profile);
void thread_watch_free(struct thread_watch *watch);

/* The threads become entries of this profile, and their times begin at the last look. `target`: the
 * same target in the new profile. Times that were already returned for the old profile do not
 * change. */
void thread_watch_move(struct thread_watch *watch, struct profile *profile, target_id target);

/* Look at all threads. A thread that has ended keeps its last times. `has_rested`: no thread has
 * run since the last look, or hardly: the times of that look are kept until now. */
void thread_watch_look(struct thread_watch *watch, bool has_rested);

/* Append the times of all threads that were seen at least twice. */
void thread_watch_get(const struct thread_watch *watch, struct thread_times *times);

/* ---- microstate.c ---- */

/*
 * The state of a thread at a sample, as in microstate accounting (profile/microstates.h).
 *
 * The VM changes the state when it calls certain functions, and changes it back when they return.
 * So of these functions the one nearest to the leaf of the stack gives the state. If the stack has
 * none, the scheduler's struct gives it. The time in a function that was not found
 * (symbol/frames_internal.h) counts as the state of its caller. The classes of the frames
 * (symbol/frames_internal.h) tell these functions from others.
 */

/* All that the state depends on. */
struct thread_sample {
    const struct layout *layout;
    const struct state_functions *functions;
    const struct snapshot *snapshot;
    const struct unwound *unwound;
    const uint8_t *classes; /* enum frame_class of each frame of `unwound` */
};

enum microstate microstate_of(const struct thread_sample *sample);

/* ---- activity.c ---- */

/* What a thread does at a sample, if it runs no Erlang process. */

/* The activity of a scheduler follows from `state`, the activity of any other thread from its
 * name. */
enum activity activity_of(const struct snapshot *snapshot, enum microstate state);

/* The name of the port whose task the scheduler runs; "" if it runs none or the name is unknown. */
void activity_name_port(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size);
