// SPDX-License-Identifier: Apache-2.0
/* Which VM a dump is requested of. */
#pragma once

#include <stddef.h>

#include "agent/roster.h"
#include "util/error.h"

/* Return the one VM of `count` that `who` is: its pid, or its name with or without its host; "":
 * the only VM. NULL with error: ERROR_NO_PROCESS if there is none, ERROR_USAGE if there are
 * several, which the error lists. */
const struct roster_vm *dump_node_find(const struct roster_vm *vms, size_t count, const char *who,
                                       struct error *error);
