// SPDX-License-Identifier: Apache-2.0
/* What a thread does that runs no Erlang process. */
#pragma once

#include "beam/vm.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "symbol/snapshot.h"

/* By its state, for a scheduler, and by its name, for another thread. */
enum activity activity_of(const struct snapshot *snapshot, enum microstate state);

/* Name of the port whose task the scheduler runs, "" if none or not known. */
void activity_port_name(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size);
