// SPDX-License-Identifier: Apache-2.0
/* Finds the VM that a request for a dump names. */
#pragma once

#include <stddef.h>

#include "agent/roster.h"
#include "util/error.h"

/* Return the VM that `who` names, by its pid or its name with or without the host. "" is the only
 * VM. NULL with error: ERROR_NO_PROCESS if there is none, ERROR_USAGE with a list if there are
 * several. */
const struct roster_vm *dump_node_find(const struct roster_vm *vms, size_t count, const char *who,
                                       struct error *error);
