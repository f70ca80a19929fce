// SPDX-License-Identifier: Apache-2.0
/*
 * The machine code of an ELF file, as it is in the file: the target's memory may contain probes.
 * Addresses are the target's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Read code. False if `address` is not in an executable segment or the segment has fewer bytes. */
bool native_code_read(const struct elf_file *file, uint64_t address, void *buffer, size_t size);

/* Visit each place that may be a direct call of `function`. The bytes match, but they may be
 * part of another instruction. A visit that returns false ends the search. */
typedef bool (*native_call_visit)(void *context, uint64_t address);
void native_code_callers(const struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context);
