// SPDX-License-Identifier: Apache-2.0
/*
 * The metrics of all VMs for operators, in shared memory. The recording process writes them, the
 * HTTP process reads them; neither waits for the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "session/node_numbers.h"
#include "session/targets.h"
#include "util/seqlock.h"

enum { BOARD_NODES_MAX = 1024, BOARD_LABELS = 6, BOARD_TEXT = 256 };

/* Names of labels, in the order of struct board_node. */
extern const char *const node_board_labels[BOARD_LABELS];

struct board_node {
    char labels[BOARD_LABELS][BOARD_TEXT]; /* "" for none */
    char otp_release[16];
    pid_t pid; /* to show it; dumps take the pid of the roster */
    struct node_numbers numbers;
};

/* All zero is empty. */
struct node_board {
    struct seqlock lock;
    _Atomic uint64_t count;
    struct board_node of[BOARD_NODES_MAX];
};

/* Write the numbers of all targets that have not ended and that have numbers. `profile` is their
 * symbolizers'. */
void node_board_write(struct node_board *board, const struct targets *targets,
                      const struct profile *profile);

/* Return a copy of the nodes, to be freed; *count is 0 if the board is written all the time, as by
 * a process that was ended meanwhile. */
struct board_node *node_board_read(const struct node_board *board, size_t *count);
