// SPDX-License-Identifier: Apache-2.0
/*
 * Names of native code. They come from .symtab if the file has one, else from .dynsym and the
 * .symtab that was split off (os/debug_file.h). A PLT stub is named after the function that it
 * jumps to. A symbol covers exactly its size, never "the nearest below": stripped binaries export
 * little, and a wrong name is worse than none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct symbol_table;

struct native_symbol {
    const char *name; /* demangled if it is C++ or Rust; lives as long as the elf_file */
    uint64_t address; /* start, in the target */
    uint64_t size;
};

/* Find the function of `file` that contains `address` (a target address). False if no symbol covers
 * it. */
bool native_symbol_find(struct elf_file *file, uint64_t address, struct native_symbol *symbol);

/* Return the target address of a function or object by its exact (mangled) name, or 0. Symbols that
 * were split off are not searched. */
uint64_t native_symbol_address(struct elf_file *file, const char *name);

/* Where the names of the functions of `file` come from. */
enum native_symbols_source {
    NATIVE_SYMBOLS_EXPORTED, /* .dynsym: only what the file exports has a name */
    NATIVE_SYMBOLS_OWN,      /* .symtab */
    NATIVE_SYMBOLS_DEBUG,    /* the .symtab that was split off */
};
enum native_symbols_source native_symbols_source(struct elf_file *file);

/* For mappings.c, which owns the elf_file. */
void symbol_table_free(struct symbol_table *symbols);
