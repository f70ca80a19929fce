// SPDX-License-Identifier: Apache-2.0
/*
 * Which application processes belong to, by their group leader, as application:get_application/1
 * tells it: the group leader of the processes of an application is its application master.
 */
#pragma once

#include "beam/atom.h"
#include "beam/process_info.h"
#include "beam/vm.h"

/* The application of which the process with this pid term is the master, in *name, of `size` bytes.
 * False if it is none, or can't be read. */
bool application_of_leader(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                           uint64_t leader, char *name, size_t size);
