// SPDX-License-Identifier: Apache-2.0
/*
 * The VMs that are recorded now, for the process that takes dumps. The process that records writes
 * them. The memory is not inherited: no process that sends or answers HTTP can write it, and so
 * choose which process is read with the rights of a dump.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "os/process.h"
#include "profile/profile.h"
#include "session/targets.h"
#include "util/error.h"

enum { ROSTER_MAX = 1024, ROSTER_NODE_ROOM = 256 };

struct roster_vm {
    pid_t pid;
    struct process_identity identity;
    char node[ROSTER_NODE_ROOM]; /* "" for no name */
};

struct roster;

/* Return an empty list, to be freed, and a file that reads it, which the caller closes. NULL with
 * error. */
struct roster *roster_new(int *ret_file, struct error *error);
void roster_free(struct roster *roster);

/* Write all targets that have not ended, up to ROSTER_MAX. `profile`: that of their symbolizers. */
void roster_write(struct roster *roster, const struct targets *targets,
                  const struct profile *profile);

/* Return a copy of what was written last, to be freed. NULL with error. */
struct roster_vm *roster_read(int file, size_t *ret_count, struct error *error);
