// SPDX-License-Identifier: Apache-2.0
/* Which VM a dump is requested of. */
#pragma once

#include <sys/types.h>

#include "agent/node_board.h"
#include "os/process.h"
#include "util/error.h"

enum { DUMP_NODE_ROOM = 512 };

struct dump_node {
    pid_t pid;
    struct process_identity identity;
};

/* Find the one VM that `who` is: its name, with or without its host, or its pid; "": the only VM.
 * ERROR_NO_PROCESS: there is none. ERROR_USAGE: there are several, which the error lists. */
int dump_node_find(const struct node_board *board, const char *who, struct dump_node *ret_node,
                   struct error *error);
