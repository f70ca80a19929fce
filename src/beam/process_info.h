// SPDX-License-Identifier: Apache-2.0
/*
 * Who an Erlang process is: pid, registered name, label, initial call, parents, status.
 *
 * Takes the bytes of the process struct as they were at the sample (copied by the kernel), and
 * follows what they point to by reading the live target; what moved meanwhile is left out rather
 * than guessed. `$initial_call`, `$process_label` and `$ancestors` come from the process
 * dictionary.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/vm.h"
#include "profile/profile.h"

enum { ANCESTORS_MAX = 32 };

struct process_info {
    uint64_t id;            /* pid term */
    char pid[48];           /* "<0.85.0>" */
    char name[260];         /* registered name, "" if none */
    char label[260];        /* OTP 27 and later, "" if none */
    char initial_call[600]; /* "mod:fun/2", "" if not known */
    uint64_t parent;        /* pid term of the local process that spawned it, 0 if there is none */
    uint64_t group_leader;  /* pid term, 0 if it is not a local process */
    uint64_t ancestors[ANCESTORS_MAX]; /* atoms and pid terms, the nearest first */
    uint32_t ancestor_count;           /* those that are further away than the last are left out */
};

/* "<0.N.S>" of a local pid term; the release decides the encoding (28 or 60 bits of data).
 * `table`: cached ErtsPTab masks, read by pid_table_read(). False if it is not a local pid. */
struct pid_encoding {
    bool wide; /* OTP 26 and later */
    uint64_t pix_mask, pix_cl_mask, pix_cli_mask;
    int32_t pix_cl_shift, pix_cli_shift;
};
int pid_encoding_read(struct vm *vm, struct pid_encoding *encoding, struct error *error);
bool pid_format(const struct pid_encoding *encoding, uint64_t term, char *buffer, size_t size);
/* Index in the process table of the process with this pid term. */
uint64_t pid_table_index(const struct pid_encoding *encoding, uint64_t term);

/* Status by the state word, in the order of erts_process_state2status() (erl_process.c 27:9205). */
enum process_status process_status_of_state(const struct vm *vm, uint32_t state);

/* Does it execute on a normal scheduler? Then its stack's top and what it used are in registers. */
bool process_state_executes(uint32_t state);

/* The same, or system tasks for it, such as collections: its stack is not at rest. */
bool process_state_is_running(uint32_t state);

/* Fill from `bytes` (the struct at `address`, at least layout.sizeof_process of them). Names that
 * are not there or can't be read are "". False if the id is not a local pid. */
bool process_info_read(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                       uint64_t address, const uint8_t *bytes, struct process_info *info);

/* A term as text for labels ("worker", {pool,3}, <<"abc">>), at most size-1 bytes, bounded depth
 * and work; false if part of it can't be read. */
bool term_format(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                 uint64_t term, char *buffer, size_t size);
