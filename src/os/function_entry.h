// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Where a probe on the entry of the function at `start` may go as well: the first instruction,
 * from there, that `accept` likes, if until then no argument register is changed, nor the stack
 * pointer where `keep_stack` (a return probe finds the return address by it), and nothing is jumped
 * over. `start` if there is none. Target addresses. */
typedef bool (*instruction_accept)(const uint8_t *code, size_t size);
uint64_t function_entry_find(struct elf_file *file, uint64_t start, bool keep_stack,
                             instruction_accept accept);
