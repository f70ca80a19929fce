// SPDX-License-Identifier: Apache-2.0
/* Finds or creates the profile's entries of OS threads, from samples. */
#pragma once

#include "beam/vm.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "symbol/snapshot.h"
#include "wire.h"

struct thread_cache;

/* Borrows `vm` and `profile`. */
struct thread_cache *thread_cache_new(const struct vm *vm, struct profile *profile,
                                      target_id target);
void thread_cache_free(struct thread_cache *cache);

/* Create entries in this profile from now on. */
void thread_cache_move(struct thread_cache *cache, struct profile *profile, target_id target);

/* The entry of the thread that was sampled. */
thread_id thread_cache_get(struct thread_cache *cache, const struct wire_sample *wire);

/* The activity of a thread that runs no Erlang process. */

/* The activity of a scheduler follows from `state`, that of any other thread from its name. */
enum activity activity_of(const struct snapshot *snapshot, enum microstate state);

/* The name of the port whose task the scheduler runs; "" if it runs none or the name is unknown. */
void activity_port_name(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size);
