// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments that calls are counted for, as text.
 *
 * The kernel has a row for each of the first 2,048 different arguments of all functions. They are
 * named while the VM lives, because atoms are in its memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/vm.h"
#include "capture/call_counter.h"
#include "util/error.h"

struct call_arguments;

/* All are borrowed. NULL with error. */
struct call_arguments *call_arguments_new(struct vm *vm, struct atoms *atoms,
                                          const struct call_counter *counter, bool shapes_only,
                                          struct error *error);
void call_arguments_free(struct call_arguments *arguments);

/* Name the arguments that are new since the last look. */
void call_arguments_see(struct call_arguments *arguments);

/* Arguments as text, valid as long as the struct call_arguments. */
struct named_arguments {
    const char *text; /* NULL: there are none of that key */
    bool is_cut;      /* "..." stands for a part of them */
};
struct named_arguments call_arguments_of(const struct call_arguments *arguments,
                                         const struct wire_arguments_key *key);

/* The text of any arguments. The caller frees it. */
char *call_arguments_text(const struct call_arguments *arguments, const struct wire_arguments *copy,
                          bool *ret_is_cut);
