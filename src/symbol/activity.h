// SPDX-License-Identifier: Apache-2.0
/* What a thread does at a sample, if it runs no Erlang process. */
#pragma once

#include "beam/vm.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "symbol/snapshot.h"

/* The activity of a scheduler follows from `state`, that of any other thread from its name. */
enum activity activity_of(const struct snapshot *snapshot, enum microstate state);

/* The name of the port whose task the scheduler runs; "" if it runs none or the name is unknown. */
void activity_name_port(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size);
