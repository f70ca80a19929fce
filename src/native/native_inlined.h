// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that a compiler inlined, and lines of the source, from the debug information (DWARF) of
 * a file or of its debug file. Off until the user wants them: the parser needs some ms for an
 * address in a large unit, and keeps the debug information in memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

void native_inlined_enable(void);
bool native_inlined_is_enabled(void);

/* A function at an address. Texts are not NULL. */
struct native_inlined {
    const char *name;
    uint64_t address;  /* its start, in the target; 0: unknown */
    const char *file;  /* of the source; "": unknown */
    uint32_t line;     /* that runs; 0: unknown */
    bool is_container; /* it is not inlined, but contains the others; it has no name */
};

/* Call `found` for each function of `file` at `address` (a target address), youngest first. Texts
 * are valid during the call. */
typedef void (*native_inlined_found)(void *context, const struct native_inlined *function);
void native_inlined_each(struct elf_file *file, uint64_t address, native_inlined_found found,
                         void *context);
