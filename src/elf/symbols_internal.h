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

/* ---- unsized.c ---- */

/* Functions in assembler whose symbol has no size, such as memcpy() of musl. */

/* Return the end of the function at `start`, as its jumps and returns show it; 0 if they do not
 * show it, or it is not before `limit`. `elf` is also open as `fd`. Addresses are the file's. */
uint64_t unsized_end(Elf *elf, int fd, uint64_t start, uint64_t limit);

/* ---- plt.c ---- */

/* Procedure linkage tables: the function that each stub jumps to. */

/* Call `found` for each stub of `elf` whose target is known, with its address in the file, its
 * size, and the name of the function that it jumps to. */
typedef void (*plt_found)(void *context, uint64_t address, uint64_t size, const char *name);
void plt_each(Elf *elf, plt_found found, void *context);
