// SPDX-License-Identifier: Apache-2.0
/*
 * Erlang processes by their struct as sampled, as entries of the profile.
 *
 * Names are read from the target when a process is first seen, and again when its struct says that
 * they may have changed or after a second: registering and labelling leave no other trace. Of one
 * that has not run since they are read again after a minute. The parents of a process become
 * entries too, so that one knows who they are even if they never run.
 */
#pragma once

#include "beam/atom.h"
#include "beam/vm.h"
#include "profile/profile.h"
#include "util/error.h"

struct process_cache;

/* All borrowed. */
struct process_cache *process_cache_new(struct vm *vm, struct atoms *atoms, struct profile *profile,
                                        target_id target, struct error *error);
void process_cache_free(struct process_cache *cache);

/* Entries are made in this profile from now on. */
void process_cache_move(struct process_cache *cache, struct profile *profile, target_id target);

/* The entry of the process at `address`, whose struct was `bytes` at `time` (ns); 0 if its pid
 * makes no sense. */
process_id process_cache_get(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                             uint64_t time);

/* The entry of the process that a pid term names, as it was last seen, or as it is now; one that
 * had ended before it was seen has no names. 0 if it is no pid of this node. */
process_id process_cache_find(struct process_cache *cache, uint64_t pid, uint64_t time);
