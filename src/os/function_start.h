// SPDX-License-Identifier: Apache-2.0
/*
 * Where a function begins, told without symbols: the table of .eh_frame_hdr, which stripped
 * binaries keep for unwinding, lists the start of each (Linux Standard Base Core 5.0, 10.6.2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Where the function that holds `address` starts, and where the next one does (0 if it is the
 * last): target addresses. False if that is not known. */
bool native_function_find(const struct elf_file *file, uint64_t address, uint64_t *start,
                          uint64_t *end);
