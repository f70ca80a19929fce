// SPDX-License-Identifier: Apache-2.0
/*
 * Of which kind a collection is that garbage_collect() makes (erl_gc.c 26:681): minor or major.
 *
 * It tries a minor one unless a major one is due. That makes an old heap where it needs one, and
 * has one from then on; or finds that there is no room, and a major one follows (26:1372). That
 * allocates a new heap, sweeps all heaps into it with full_sweep_heaps(), which frees the old heap
 * at its end, and has none from then on (26:1808). So where the function can't come to the sweep
 * any more, the old heap tells them apart, and where it must, it is major.
 */
#pragma once

#include <stdint.h>

#include "beam/layout.h"
#include "os/code_ways.h"
#include "profile/microstates.h"

/* `process`: its bytes; `sweep`: what garbage_collect() has still ahead, full_sweep_heaps() not
 * running. Until it is decided it counts as minor, as the VM has it, unless it is bound to be
 * major. MICROSTATE_GC where it can't be told. */
enum microstate collection_kind(const struct layout *layout, const uint8_t *process,
                                enum call_ahead sweep);
