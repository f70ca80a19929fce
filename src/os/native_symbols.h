// SPDX-License-Identifier: Apache-2.0
/*
 * Names of native code: .symtab if the file has one, else .dynsym and the .symtab that was split
 * off (os/debug_file.h), and PLT stubs by what they jump to. A symbol covers exactly its size,
 * never "the nearest below": stripped binaries export little, and a wrong name is worse than none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct symbol_table;

struct native_symbol {
    const char *name; /* demangled where it is C++; lives as long as the elf_file */
    uint64_t address; /* where it starts, in the target */
    uint64_t size;
};

/* The function that holds `address` (target address) of `file`; false if no symbol covers it. */
bool native_symbol_find(struct elf_file *file, uint64_t address, struct native_symbol *symbol);

/* The target address of a function or object by its exact (mangled) name, or 0. What was split off
 * is not searched. */
uint64_t native_symbol_address(struct elf_file *file, const char *name);

/* For mappings.c, which owns the elf_file. */
void symbol_table_free(struct symbol_table *symbols);
