// SPDX-License-Identifier: Apache-2.0
/* Erlang processes of samples: what the files of this folder share. */
#pragma once

#include <stdint.h>

#include "beam/atom.h"
#include "beam/name_keys.h"
#include "beam/vm.h"
#include "profile/metrics.h"
#include "profile/profile.h"
#include "util/error.h"

/* ---- process_cache.c ---- */

/*
 * Finds or creates the profile's entries of Erlang processes, from their sampled structs.
 *
 * Names are read from the target when a process is first seen. They are read again when the struct
 * shows that they may have changed, and after one second (process_cache_set_pace()), because
 * registering or labelling a process leaves no other trace. For a process that has not run since,
 * the interval is one minute. The parents of a process become entries too, so that they are known
 * even if they never run.
 */

struct process_cache;

/* Borrows all. `keys` are the user's keys for labels, or NULL. */
struct process_cache *process_cache_new(struct vm *vm, struct atoms *atoms,
                                        const struct name_keys *keys, struct profile *profile,
                                        target_id target, struct error *error);
void process_cache_free(struct process_cache *cache);

/* Create entries in this profile from now on. */
void process_cache_move(struct process_cache *cache, struct profile *profile, target_id target);

/* From now on the entry of a process that runs may be `ns` old: at least 0.1 s. */
void process_cache_set_pace(struct process_cache *cache, uint64_t ns);

/* The entry of the process at `address`, whose struct was `bytes` at `time` (ns). 0 if its pid is
 * invalid. */
process_id process_cache_get(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                             uint64_t time);

/* The entry of the process with this pid term, as last seen or as it is now. A process that ended
 * before it was first seen has no names. 0 if `pid` is no pid of this node. */
process_id process_cache_find(struct process_cache *cache, uint64_t pid, uint64_t time);

/* ---- process_walks.c ---- */

/*
 * Adds the metrics that need a walk through a process (process_walk_metrics()) to samples.
 *
 * A process is walked once a second, or less often if there are so many processes that the reads of
 * a second are not enough for all. At its other samples these metrics stay unknown.
 */

struct process_walks;

/* Borrows `vm`. */
struct process_walks *process_walks_new(struct vm *vm);
void process_walks_free(struct process_walks *walks);

/* From now on a process is walked once in `ns`, in place of a second. */
void process_walks_set_pace(struct process_walks *walks, uint64_t ns);

/* Add the missing metrics to the metrics of a sample. `id`: pid term of the process at
 * `address`. */
void process_walks_add(struct process_walks *walks, uint64_t address, uint64_t id, uint64_t time,
                       struct metrics *metrics);
