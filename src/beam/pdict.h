// SPDX-License-Identifier: Apache-2.0
/* The process dictionary, read from outside. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "os/nearby.h"

/* One entry. Returns false when no more are wanted. */
typedef bool (*pdict_visit)(void *context, uint64_t key, uint64_t value);

/* Visit the entries of the ProcDict at `address`, as many as can be read by `nearby`. Very large
 * dictionaries are visited in part. */
void pdict_each(struct vm *vm, struct nearby *nearby, uint64_t address, pdict_visit visit,
                void *context);
