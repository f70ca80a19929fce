// SPDX-License-Identifier: Apache-2.0
/*
 * Take a census of a VM: all of its processes, as they are now.
 *
 *   those at rest      read out of memory (beam/process_sweep.h)
 *   those that run     by a CPU sample each, or at rest a moment later; of a core, by the
 *                      registers that their threads had
 */
#pragma once

#include "beam/vm.h"
#include "profile/census.h"
#include "session/top_option.h"
#include "util/error.h"

enum { CENSUS_DEPTH_MAX = 1000 };

struct census_request {
    struct top_option top;
    uint32_t depth; /* frames of a stack, from the leaf, CENSUS_DEPTH_MAX at most; 0: all */
};

/* Fill *census, which is all zero, of a new `profile`. `vm` and `profile` are borrowed. What keeps
 * processes that run from being sampled is no failure, but told in *sampling (code 0: nothing). */
int census_take(struct vm *vm, const struct census_request *request, struct profile *profile,
                struct census *census, struct error *sampling, struct error *error);
