// SPDX-License-Identifier: Apache-2.0
/* Procedure linkage tables: which stub jumps to which function. */
#pragma once

#include <libelf.h>
#include <stdint.h>

/* Call `found` for each stub of `elf` whose target is known: its address in the file, its size,
 * and the name of the function it jumps to. */
typedef void (*plt_found)(void *context, uint64_t address, uint64_t size, const char *name);
void plt_each(Elf *elf, plt_found found, void *context);
