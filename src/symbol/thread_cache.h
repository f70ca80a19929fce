// SPDX-License-Identifier: Apache-2.0
/* OS threads as sampled, as entries of the profile. */
#pragma once

#include "beam/vm.h"
#include "profile/profile.h"
#include "wire.h"

struct thread_cache;

/* `vm` and `profile` are borrowed. */
struct thread_cache *thread_cache_new(const struct vm *vm, struct profile *profile,
                                      target_id target);
void thread_cache_free(struct thread_cache *cache);

/* Entries are made in this profile from now on. */
void thread_cache_move(struct thread_cache *cache, struct profile *profile, target_id target);

/* The entry of the thread that `wire` was taken of. */
thread_id thread_cache_get(struct thread_cache *cache, const struct wire_sample *wire);
