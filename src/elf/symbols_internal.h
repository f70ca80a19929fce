// SPDX-License-Identifier: Apache-2.0
/* The parts of symbols.c. */
#pragma once

#include <libelf.h>
#include <stdint.h>

/* ---- demangle.c ---- */

/* Readable names of C++ and Rust symbols. */

/* Turn "_ZN6asmjit11BaseEmitter4emitEj" into "asmjit::BaseEmitter::emit", and names of Rust as
 * demangle_rust() does. The parameter list of C++ is cut off, since it only makes frame names long.
 * The result is malloc'ed. NULL if `name` is not mangled or exceeds the bounds on length and back
 * references. */
char *demangle(const char *name);

/* ---- plt.c ---- */

/* Procedure linkage tables: the function that each stub jumps to. */

/* Call `found` for each stub of `elf` whose target is known, with its address in the file, its
 * size, and the name of the function that it jumps to. */
typedef void (*plt_found)(void *context, uint64_t address, uint64_t size, const char *name);
void plt_each(Elf *elf, plt_found found, void *context);
