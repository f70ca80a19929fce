// SPDX-License-Identifier: Apache-2.0
/*
 * Takes a dump of a VM: its processes, ETS tables, ports and memory, as they are now. Tables, ports
 * and memory are read from the VM's memory, sockets from /proc. Processes are read by what they do:
 *
 *   at rest    read from memory (beam/process_sweep.h)
 *   running    from a CPU sample of each, or from memory once it is at rest; in a core file, from
 *              the registers of its thread
 */
#pragma once

#include "beam/name_keys.h"
#include "beam/vm.h"
#include "profile/dump.h"
#include "session/options.h"
#include "symbol/symbolizer.h"
#include "util/error.h"

enum { DUMP_DEPTH_MAX = 1000 };

struct dump_request {
    uint32_t sections; /* to read: 1 << enum dump_section each */
    struct top_option top;
    uint32_t depth; /* frames of a stack, from the leaf, DUMP_DEPTH_MAX at most; 0: all */
    struct name_keys name_keys;
};

/* Fill *dump, which must be all zero, with entries of a new `profile`. Borrows `vm` and
 * `profile`. If running processes can't be sampled, that is no failure: *sampling says why (code 0:
 * they can be). Return 0, or -1 with error. */
int dump_take(struct vm *vm, const struct dump_request *request, struct profile *profile,
              struct dump *dump, struct error *sampling, struct error *error);

/* ---- take_ports.c ---- */

/* Takes the ports and sockets of a dump. */

/* Fill *ports, which must be all zero, with the ports and sockets of the VM, the largest queues
 * first. Their owners become entries of `profile`. If ports or sockets can't be read, *ports says
 * why. */
void take_ports(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                struct dump_ports *ports);
