// SPDX-License-Identifier: Apache-2.0
/* Read a process dictionary. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "os/read_cache.h"

/* Called with one entry. Returns false to end the visit. */
typedef bool (*pdict_visit)(void *context, uint64_t key, uint64_t value);

/* Visit the entries of the ProcDict at `address` that `cache` can read. Of very large dictionaries
 * only a part is visited. */
void pdict_each(struct vm *vm, struct read_cache *cache, uint64_t address, pdict_visit visit,
                void *context);
