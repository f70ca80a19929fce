// SPDX-License-Identifier: Apache-2.0
/* Finds or creates the profile's entries of OS threads, from samples. */
#pragma once

#include "beam/vm.h"
#include "profile/profile.h"
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
