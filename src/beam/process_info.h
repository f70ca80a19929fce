// SPDX-License-Identifier: Apache-2.0
/*
 * The identity of an Erlang process: pid, registered name, label, initial call, parents, status.
 *
 * The source is a copy of the process struct, taken by the kernel side at the sample or by a sweep.
 * Data that the struct points to are read from the live target. Data that have moved since are
 * omitted, never guessed. `$initial_call`, `$ancestors` and the label come from the process
 * dictionary.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/name_keys.h"
#include "beam/pid_encoding.h"
#include "beam/vm.h"
#include "native/memory.h"
#include "profile/profile.h"

enum { ANCESTORS_MAX = 32 };

struct process_info {
    uint64_t id;            /* pid term */
    char pid[48];           /* "<0.85.0>" */
    char name[260];         /* registered name, "" if none */
    char label[260];        /* below; "" if none */
    bool label_is_detail;   /* as in struct process_entry */
    char initial_call[600]; /* "mod:fun/2", "" if unknown */
    uint64_t parent;        /* pid term of the local process that spawned it, 0 if none */
    uint64_t group_leader;  /* pid term, 0 if it is not a local process */
    uint64_t ancestors[ANCESTORS_MAX]; /* atoms and pid terms, the nearest first */
    uint32_t ancestor_count;           /* at most ANCESTORS_MAX; farther ones are omitted */
};

/* Status for a state word. Tests the bits in the order of erts_process_state2status()
 * (erl_process.c 27.3.4.1:9205). */
enum process_status process_info_status(const struct vm *vm, uint32_t state);

/* True if the process executes on a normal scheduler. The top of its stack and its reductions are
 * then in registers. */
bool process_info_executes(uint32_t state);

/* The state word of a copy of a process's struct. */
uint32_t process_info_state(const struct vm *vm, const uint8_t *bytes);

/* True if the process has run between two copies of its struct. */
bool process_info_has_run(const struct vm *vm, const uint8_t *before, const uint8_t *after);

/* True if the process executes on a normal scheduler, or if system tasks such as collections are
 * executed for it there: its stack is changing. */
bool process_info_is_running(uint32_t state);

/* Fill *info from `bytes`, a copy of the struct at `address` (layout.sizeof_process bytes). Names
 * that are missing or can't be read are "". `keys` are the user's keys for labels, or NULL. False
 * if the id is not a local pid. */
bool process_info_read(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                       const struct name_keys *keys, uint64_t address, const uint8_t *bytes,
                       struct process_info *info);

/* Format a term as text for labels ("worker", {pool,3}, <<"abc">>), at most size-1 bytes. Depth and
 * work are bounded. False if a part of the term can't be read. */
bool term_format(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                 uint64_t term, char *buffer, size_t size);

/*
 * Find the application of a process by its group leader, as application:get_application/1 does. The
 * group leader of an application's processes is the application master.
 */

/* Write the name of the application to `name`, a buffer of `size` bytes. `leader` is the pid term
 * of the application master. Returns false if `leader` is not an application master, or if it can't
 * be read. */
bool process_info_application(struct vm *vm, struct atoms *atoms,
                              const struct pid_encoding *encoding, uint64_t leader, char *name,
                              size_t size);

/* ---- dictionary_names.c ---- */

/*
 * The label of a process: the best one in its dictionary.
 *
 *      1. the keys that the user has named, in their order (beam/name_keys.h)
 *      2. `$process_label`
 *      3. keys of known software
 */

struct dictionary_names {
    struct vm *vm;
    struct atoms *atoms;
    const struct pid_encoding *encoding;
    struct read_cache *cache;
    const struct name_keys *keys; /* NULL: none */
    struct process_info *info;    /* its label is filled */
    uint32_t tried;               /* bits of kinds of keys: each is read once */
    uint32_t best;                /* the kind of the label */
};

/* Set `best`, and no label. The other fields are the caller's. */
void dictionary_names_begin(struct dictionary_names *names);

/* Take an entry of the dictionary, with the text of its key, an atom. */
void dictionary_names_visit(struct dictionary_names *names, const char *key, uint64_t value);
/* The same of an entry whose key is no atom. */
void dictionary_names_visit_other(struct dictionary_names *names, uint64_t key, uint64_t value);
