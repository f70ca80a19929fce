// SPDX-License-Identifier: Apache-2.0
/*
 * The kind of a collection in garbage_collect() (erl_gc.c 26:681): minor or major.
 *
 * garbage_collect() runs a minor collection unless a major one is due. A minor collection allocates
 * an old heap if it needs one, and the process has an old heap from then on. If the minor
 * collection finds no room, a major one follows (26:1372). A major collection allocates a new heap
 * and sweeps all heaps into it with full_sweep_heaps(), which frees the old heap at its end. The
 * process has no old heap from then on (26:1808).
 *
 * So if garbage_collect() can no longer reach the sweep, the old heap tells the two kinds apart. If
 * it must reach the sweep, the collection is major.
 */
#pragma once

#include <stdint.h>

#include "beam/layout.h"
#include "os/reachability.h"
#include "profile/microstates.h"

/* `process`: the bytes of the Process struct. `sweep`: whether garbage_collect() still has a full
 * sweep ahead; full_sweep_heaps() must not be running. A collection whose kind is not decided yet
 * counts as minor, as in the VM, unless it is bound to become major. MICROSTATE_GC if the kind is
 * unknown. */
enum microstate collection_kind(const struct layout *layout, const uint8_t *process,
                                enum call_ahead sweep);
