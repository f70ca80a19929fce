// SPDX-License-Identifier: Apache-2.0
/*
 * Recognizes a function without a name in another build of its file, by what it calls and by what
 * calls it.
 *
 * The likeness of a function is a sum over its links, without their order:
 *
 *   - calls of functions that the file exports or imports, by name,
 *   - strings whose address its code contains,
 *   - calls of it by functions that the file exports, by name,
 *   - calls from and to other functions, by their number.
 *
 * Only the names in .dynsym count, because each build has these. A function has no likeness if
 *
 *   - another one in the file has the same,
 *   - only functions without a name call it,
 *   - fewer than LINKS_LEAST of its calls and strings have a name, or
 *   - another one has the same calls and strings.
 *
 * The last three rules are needed because of inlining. A caller has all links of the function that
 * the compiler inlined into it, so only the callers of both distinguish the two. Where one compiler
 * inlines a function into its wrapper, and another inlines the wrapper, the callers are the same
 * too. Compilers do that with small functions, and with those of headers, of which a file has
 * several copies.
 */
#pragma once

#include <libelf.h>
#include <stdint.h>

struct likenesses;

/* Read the code of a file, which is also open as `fd`. Both are only used during this call. */
struct likenesses *likenesses_new(Elf *elf, int fd);
void likenesses_free(struct likenesses *likenesses);

/* The likeness of the function that starts at an address of the file; 0: it has none. */
uint64_t likenesses_find(const struct likenesses *likenesses, uint64_t start);
