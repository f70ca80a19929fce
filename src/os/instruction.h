// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* True if `address` is the start of an instruction of the function that starts at `function`. A
 * breakpoint anywhere else would change what the code does. Both are target addresses. */
bool instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address);
