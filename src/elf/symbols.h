// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of an ELF file. They come from .symtab if the file has one, else from .dynsym and
 * the .symtab that was split off, else from .dynsym and the table of its build that this program
 * has (known_builds.h). A PLT stub is named after the function that it jumps to. A symbol covers
 * exactly its size, or what its code shows if it has none (unsized.c), never "the nearest below":
 * stripped binaries export little, and a wrong name is worse than none. Addresses are the file's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_limits.h"

/* Where the names of the functions of a file come from. */
enum native_symbols_source {
    NATIVE_SYMBOLS_EXPORTED, /* .dynsym: only what the file exports has a name */
    NATIVE_SYMBOLS_OWN,      /* .symtab */
    NATIVE_SYMBOLS_DEBUG,    /* the .symtab that was split off */
    NATIVE_SYMBOLS_BUILD,    /* the table of a distribution's build, in this program */
    NATIVE_SYMBOLS_SOURCES,
};

/* The function at an address, or that there is none. */
struct elf_symbol {
    const char *name;    /* demangled if it is C++ or Rust; lives as long as the table and the file;
                          * NULL: no symbol covers the address */
    uint64_t start, end; /* of the function */
    uint64_t same_from, same_to; /* [same_from, same_to): addresses with the same answer; they
                                  * contain the address */
};

struct elf_symbols;

/* True if the file has a .symtab. */
bool elf_symbols_are_own(Elf *elf);

/* Read the symbols. `elf`, which is also open as `fd`, and `room` are borrowed and must outlive the
 * table; `debug_fd` is the file with the symbols that were split off, which is only read now (-1:
 * none). */
struct elf_symbols *elf_symbols_new(Elf *elf, int fd, int debug_fd, struct elf_room *room);
void elf_symbols_free(struct elf_symbols *symbols);
enum native_symbols_source elf_symbols_source(const struct elf_symbols *symbols);

/* Find the innermost function that contains `address`. */
struct elf_symbol elf_symbols_find(struct elf_symbols *symbols, uint64_t address);

/* Return the address of a function or object by its exact (mangled) name, or 0; also 0 if several
 * local symbols have the name, and no other. Symbols that were split off are not searched. */
uint64_t elf_symbol_address(Elf *elf, const char *name);

/* The same among the symbols that were split off. */
uint64_t elf_symbols_debug_address(const struct elf_symbols *symbols, const char *name);
