// SPDX-License-Identifier: Apache-2.0
/* The VM's atom table: the text of an atom term. Texts are cached, because an atom never changes or
 * disappears. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "wire.h"

struct atoms;

struct atoms *atoms_new(struct vm *vm);
void atoms_free(struct atoms *atoms);

/* Text of an atom term (UTF-8, as in the table, unquoted). NULL if the term is not an atom or can't
 * be read. The text lives as long as `atoms`. */
const char *atom_text(struct atoms *atoms, uint64_t term);

/* The atom with this text, 0 if the VM has none. Looks at each atom, until it is found. */
uint64_t atom_find(struct atoms *atoms, const char *text);

/* The name that an atom shows: "Shop.Stock" for 'Elixir.Shop.Stock', as Elixir writes it; else the
 * text itself. A part of `text`. */
const char *atom_shown(const char *text);

/* Read the text of the atom with `index` from the IndexTable at `table`. The address need not be an
 * atom table's: false if the memory there does not fit. Writes at most size-1 bytes and a NUL;
 * fails for longer atoms. */
bool atom_table_text(struct memory *memory, const struct layout *layout, uint64_t table,
                     uint64_t index, char *text, size_t size);

enum { ATOM_BYTES_MAX = 64 }; /* a larger struct Atom is not read */

/* The same for an atom whose struct has these bytes (layout->sizeof_atom). */
bool atom_struct_text(struct memory *memory, const struct layout *layout,
                      const uint8_t atom[ATOM_BYTES_MAX], uint64_t index, char *text, size_t size);

/* Format as "Enum.map/2" for 'Elixir.Enum':map/2, else as "lists:map/2". Atoms are quoted as Erlang
 * quotes them. Writes at most size-1 bytes and a NUL. */
void atom_mfa_format(const char *module, const char *function, uint32_t arity, char *buffer,
                     size_t size);

/* ---- trace_atoms.c ---- */

/*
 * The atoms by which OpenTelemetry keeps the current span in process dictionaries (bpf/trace.h). A
 * VM has them once it has loaded opentelemetry_api. An atom never changes or disappears, so this
 * module looks at each atom once.
 */

/* All zero at first. */
struct trace_atoms {
    uint64_t seen;                /* atoms that were looked at */
    struct wire_trace_atoms wire; /* those that were found; the others are 0 */
};

/* Look at atoms that are new since the last look, at most at 65,536 of them. True once all three
 * are found. */
bool trace_atoms_look(const struct vm *vm, struct trace_atoms *atoms);
