// SPDX-License-Identifier: Apache-2.0
/*
 * Finds or creates the profile's entries of Erlang processes, from their sampled structs.
 *
 * Names are read from the target when a process is first seen. They are read again when the struct
 * shows that they may have changed, and after one second, because registering or labelling a
 * process leaves no other trace. For a process that has not run since, the interval is one minute.
 * The parents of a process become entries too, so that they are known even if they never run.
 */
#pragma once

#include "beam/atom.h"
#include "beam/name_keys.h"
#include "beam/vm.h"
#include "profile/profile.h"
#include "util/error.h"

struct process_cache;

/* Borrows all. `keys`: those of the user for labels, or NULL. */
struct process_cache *process_cache_new(struct vm *vm, struct atoms *atoms,
                                        const struct name_keys *keys, struct profile *profile,
                                        target_id target, struct error *error);
void process_cache_free(struct process_cache *cache);

/* Create entries in this profile from now on. */
void process_cache_move(struct process_cache *cache, struct profile *profile, target_id target);

/* The entry of the process at `address`, whose struct was `bytes` at `time` (ns). 0 if its pid is
 * invalid. */
process_id process_cache_get(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                             uint64_t time);

/* The entry of the process with this pid term, as last seen or as it is now. A process that ended
 * before it was first seen has no names. 0 if `pid` is no pid of this node. */
process_id process_cache_find(struct process_cache *cache, uint64_t pid, uint64_t time);
