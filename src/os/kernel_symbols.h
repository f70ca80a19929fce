// SPDX-License-Identifier: Apache-2.0
/* Names of kernel code, from /proc/kallsyms. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "elf/build_id.h"
#include "util/error.h"

struct kernel_symbols;

/* Read and index the text symbols (about 4 MB of memory). NULL with error if they can't be read or
 * are hidden (kptr_restrict). */
struct kernel_symbols *kernel_symbols_new(struct error *error);
/* As kernel_symbols_new(), from a file in the format of /proc/kallsyms. The file stays open. */
struct kernel_symbols *kernel_symbols_read(FILE *file, struct error *error);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* Return the symbol at or below `address`, its start in `*start` and its module (KERNEL_MODULE or
 * "[module]") in `*module`. NULL for an address below all symbols or after the last one. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
                                uint64_t *start, const char **module);

/* Return the build id of such a module; "" if it is unknown, as for symbols that were read from a
 * file. */
struct build_id_text kernel_symbols_build_id(const struct kernel_symbols *symbols,
                                             const char *module);
