// SPDX-License-Identifier: Apache-2.0
/*
 * Find the application of a process by its group leader, as application:get_application/1 does. The
 * group leader of an application's processes is the application master.
 */
#pragma once

#include "beam/atom.h"
#include "beam/process_info.h"
#include "beam/vm.h"

/* Write the name of the application to `name`, a buffer of `size` bytes. `leader` is the pid term
 * of the application master. Returns false if `leader` is not an application master, or if it can't
 * be read. */
bool application_of_leader(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                           uint64_t leader, char *name, size_t size);
