// SPDX-License-Identifier: Apache-2.0
/*
 * The VMs that are recorded now, for the process that takes dumps. The recording process writes
 * them. Processes that send or answer HTTP do not inherit the memory, so they can't choose which
 * process is read with the rights of a dump.
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

/* Return an empty list, to be freed, and in *ret_file a file that reads it, to be closed. NULL with
 * error. */
struct roster *roster_new(int *ret_file, struct error *error);
void roster_free(struct roster *roster);

/* Write all targets that have not ended, up to ROSTER_MAX. `profile` is their symbolizers'. */
void roster_write(struct roster *roster, const struct targets *targets,
                  const struct profile *profile);

/* Return a copy of the list that was written last, to be freed. NULL with error. */
struct roster_vm *roster_read(int file, size_t *ret_count, struct error *error);
