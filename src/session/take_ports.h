// SPDX-License-Identifier: Apache-2.0
/* Takes the ports and sockets of a dump. */
#pragma once

#include "beam/vm.h"
#include "profile/dump.h"
#include "symbol/symbolizer.h"

/* Fill *ports, which must be all zero, with the ports and sockets of the VM, the largest queues
 * first. Their owners become entries of `profile`. If ports or sockets can't be read, *ports says
 * why. */
void take_ports(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                struct dump_ports *ports);
