// SPDX-License-Identifier: Apache-2.0
/*
 * The label of a process: the best that its dictionary has.
 *
 *      1. the keys that the user has named, in their order (beam/name_keys.h)
 *      2. `$process_label`
 *      3. keys of known software
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/name_keys.h"
#include "beam/process_info.h"
#include "native/memory.h"

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
