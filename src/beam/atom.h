// SPDX-License-Identifier: Apache-2.0
/* The VM's atom table: an atom term to its text. Cached: an atom never changes or goes away. */
#pragma once

#include <stdint.h>

#include "beam/vm.h"

struct atoms;

struct atoms *atoms_new(struct vm *vm);
void atoms_free(struct atoms *atoms);

/* Text (UTF-8, as in the table, unquoted) of an atom term, NULL if it is not an atom or can't be
 * read. Valid as long as the table. */
const char *atom_text(struct atoms *atoms, uint64_t term);

/* The same from a table that is not yet believed to be one: text of the atom with `index` in the
 * IndexTable at `table`. At most size-1 bytes; longer atoms fail. */
bool atom_table_text(struct memory *memory, const struct layout *layout, uint64_t table,
                     uint64_t index, char *text, size_t size);

/* "Enum.map/2" for 'Elixir.Enum':map/2, else "lists:map/2"; atoms that are not plain are quoted
 * as Erlang does. Writes at most size-1 bytes. */
void mfa_format(const char *module, const char *function, uint32_t arity, char *buffer,
                size_t size);
