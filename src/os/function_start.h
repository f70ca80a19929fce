// SPDX-License-Identifier: Apache-2.0
/*
 * Finds function boundaries without symbols. The table of .eh_frame_hdr, which stripped binaries
 * keep for unwinding, lists the start of each function (Linux Standard Base Core 5.0, 10.6.2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Find the start of the function that contains `address`, and the start of the next function (0 if
 * it is the last). All are target addresses. False if the function is unknown. */
bool native_function_find(const struct elf_file *file, uint64_t address, uint64_t *start,
                          uint64_t *end);
