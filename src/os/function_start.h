// SPDX-License-Identifier: Apache-2.0
/*
 * Where a function begins, told without symbols: the table of .eh_frame_hdr, which stripped
 * binaries keep for unwinding, lists the start of each (Linux Standard Base Core 5.0, 10.6.2).
 */
#pragma once

#include <stdint.h>

struct elf_file;

/* Target address of the start of the function that holds `address`; `address` if not known. */
uint64_t native_function_start(const struct elf_file *file, uint64_t address);
