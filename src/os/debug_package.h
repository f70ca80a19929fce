// SPDX-License-Identifier: Apache-2.0
/* Says where the symbols of a stripped file are to be had. */
#pragma once

#include <stddef.h>

struct elf_file;

/* Return the package with the debug symbols of the Erlang VM of a distribution, by the text of its
 * os-release; NULL if unknown. */
const char *debug_package_of_release(const char *os_release);

/* Write how to get the symbols of `file`, the executable of a VM: a package, and the path where
 * they are searched for. */
void debug_advice(const struct elf_file *file, char *text, size_t size);
