// SPDX-License-Identifier: Apache-2.0
/* Names of native code (elf/symbols.h says where they come from), at addresses of a process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "elf/symbols.h"

struct elf_file;

struct native_symbol {
    const char *name; /* demangled if it is C++ or Rust; valid until the next call for this file */
    uint64_t address; /* start, in the target */
    uint64_t size;
};

/* Find the function of `file` that contains `address` (a target address). False if no symbol covers
 * it. The parser is asked once for each function, and for each range without one, and its answers
 * are kept: an agent names the same functions again in each segment. */
bool native_symbol_find(struct elf_file *file, uint64_t address, struct native_symbol *symbol);

/* Return the likeness of the function that starts at `start` (a target address), which recognizes
 * it in other builds of its file (elf/likenesses.h); 0: it has none. */
uint64_t native_symbol_likeness(struct elf_file *file, uint64_t start);

/* Return the target address of a function or object by its exact (mangled) name, or 0. Symbols that
 * were split off are not searched. */
uint64_t native_symbol_address(struct elf_file *file, const char *name);

/* The same among the symbols that were split off `file`, if they are on this host: none are fetched
 * for it. 0 also if `file` has no build id: a checksum does not show that the symbols are of the
 * same code. */
uint64_t native_symbol_debug_address(struct elf_file *file, const char *name);

/* The answers about a file. NULL has none. */
struct known_symbols;

void known_symbols_free(struct known_symbols *known);

/* Where the names of the functions of `file` come from. */
enum native_symbols_source native_symbols_source(struct elf_file *file);

/* The same in words: "those of its debug file". */
const char *native_symbols_source_text(enum native_symbols_source source);
