// SPDX-License-Identifier: Apache-2.0
/*
 * Work on hostile bytes in a process with nothing: no capability, no file but those that its parent
 * opens for it (os/file_broker.h), a filter of system calls, a limit of memory. It ends with its
 * parent. What it prints goes where this process prints.
 */
#pragma once

#include <stdint.h>

#include "os/fence.h"
#include "os/file_broker.h"

struct confined_work {
    int (*run)(void *context); /* in the process; returns its exit code */
    void *context;
    struct file_broker files;
    /* Around all that `files` opens. This process gets it, and the rights of privileges_render(),
     * before it answers. It is freed. */
    struct file_fence *fence;
    uint64_t memory; /* bytes of address space beyond those that this process has */
    int log_file;    /* a descriptor that the process keeps; -1: none */
};

struct confined_end {
    int code;      /* exit code of `run` */
    bool complete; /* it has called file_broker_complete() */
};

/* Run the work, and wait for its end. A process that SIGPIPE ends takes this one with it, as if
 * this one had written. Return 0, or -1 with error if the process could not be started, or died;
 * the error says of what, and what to do. */
int confined_run(const struct confined_work *work, struct confined_end *ret_end,
                 struct error *error);
