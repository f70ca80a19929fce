// SPDX-License-Identifier: Apache-2.0
/*
 * A hardware breakpoint on an instruction, in threads of a process. A BPF program runs at each hit,
 * before the instruction. The kernel counts the hits too.
 *
 * A breakpoint is in registers of the CPU while the thread runs. Nothing is written to the memory
 * of the process. The kernel removes a breakpoint when its descriptor is closed, however this
 * program ends.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct breakpoint {
    uint64_t address;
    int program; /* descriptor of the BPF program; -1: none, the kernel counts alone */
    struct breakpoint_thread {
        pid_t tid;
        int fd;
    } * threads;
    size_t count, room;
};

/* Set it in one more thread, disabled. Return 0, also if the thread has ended, or -1 with error:
 * ERROR_UNSUPPORTED if this machine has none, or if other programs use all that the thread can
 * have. */
int breakpoint_set(struct breakpoint *breakpoint, pid_t tid, struct error *error);

/* Set an error that says that no breakpoint is free. Return -1. */
int breakpoint_none_free(struct error *error);

/* Enable it in all threads, and disable it: hits count from now on, and no longer. */
void breakpoint_start(const struct breakpoint *breakpoint);
void breakpoint_stop(const struct breakpoint *breakpoint);

/* The hits in all threads. */
uint64_t breakpoint_hits(const struct breakpoint *breakpoint);

void breakpoint_remove(struct breakpoint *breakpoint);

/* Count calls of a function of this program. Some hypervisors accept breakpoints that are never
 * hit. Return 0, or -1 with error: ERROR_PERMISSION, or ERROR_UNSUPPORTED. */
int breakpoint_try(struct error *error);

/* Set an error: of `made` hits or returns (`what`) in a trial, `counted` were counted. Return -1.
 */
int breakpoint_missed(uint64_t made, uint64_t counted, const char *what, struct error *error);
