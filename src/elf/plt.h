// SPDX-License-Identifier: Apache-2.0
/* Procedure linkage tables: the function that each stub jumps to. */
#pragma once

#include <libelf.h>
#include <stdint.h>

/* Call `found` for each stub of `elf` whose target is known, with its address in the file, its
 * size, and the name of the function that it jumps to. */
typedef void (*plt_found)(void *context, uint64_t address, uint64_t size, const char *name);
void plt_each(Elf *elf, plt_found found, void *context);
