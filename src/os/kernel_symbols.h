// SPDX-License-Identifier: Apache-2.0
/* Names of kernel code, from /proc/kallsyms. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "os/build_id.h"
#include "util/error.h"

struct kernel_symbols;

/* Reads and indexes the text symbols (about 4 MB of memory). NULL with error if they can't be
 * read or are hidden (kptr_restrict). */
struct kernel_symbols *kernel_symbols_new(struct error *error);
/* The same from a file in the format of /proc/kallsyms, which stays open. */
struct kernel_symbols *kernel_symbols_read(FILE *file, struct error *error);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* The symbol at or below `address`, its start in `*start`, its module (KERNEL_MODULE or
 * "[module]") in `*module`; NULL if below all or beyond the last. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
                                uint64_t *start, const char **module);

/* That of such a module, "" if it is not known: of symbols read from a file it is not. */
struct build_id_text kernel_symbols_build_id(const struct kernel_symbols *symbols,
                                             const char *module);
