// SPDX-License-Identifier: Apache-2.0
/* What a thread does that runs no Erlang process. */
#pragma once

#include "beam/vm.h"
#include "profile/profile.h"
#include "symbol/snapshot.h"

/* `thread_name`: of the OS thread. `stack`: the sample's stack, whose names tell system calls and,
 * where the VM exports them, its functions. */
enum activity activity_of(const struct vm *vm, const struct snapshot *snapshot,
                          const struct profile *profile, stack_id stack);

/* Name of the port whose task the scheduler runs, "" if none or not known. */
void activity_port_name(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size);
