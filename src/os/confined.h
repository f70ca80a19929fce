// SPDX-License-Identifier: Apache-2.0
/*
 * Work on hostile bytes in a process with nothing: no capability, no file but those that its parent
 * opens for it (os/file_broker.h), a filter of system calls, a limit of memory. The process ends
 * with its parent, and prints where its parent prints.
 */
#pragma once

#include <stdint.h>

#include "os/fence.h"
#include "os/file_broker.h"

struct confined_work {
    int (*run)(void *context); /* in the process; returns its exit code */
    void *context;
    struct file_broker files;
    /* The fence around all files that `files` opens. This process puts it up, and takes the rights
     * of privileges_render(), before it serves requests. It is freed. */
    struct file_fence *fence;
    uint64_t memory; /* bytes of address space beyond those that this process has */
    int log_file;    /* a descriptor that the process keeps; -1: none */
};

struct confined_end {
    int code;      /* exit code of `run` */
    bool complete; /* it has called file_broker_complete() */
};

/* Run the work, and wait for its end. If SIGPIPE ends the process, it ends this one too, as if this
 * one had written. Return 0, or -1 with error if the process could not be started, or died; the
 * error says why, and what to do. */
int confined_run(const struct confined_work *work, struct confined_end *ret_end,
                 struct error *error);
