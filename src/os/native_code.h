// SPDX-License-Identifier: Apache-2.0
/*
 * The machine code of an ELF file, as it is in the file: in the target's memory, probes may have
 * been put into it. Addresses are the target's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* False if `address` is not in an executable segment or there are fewer bytes. */
bool native_code_read(const struct elf_file *file, uint64_t address, void *buffer, size_t size);

/* Visit each place that may be a call of `function` (call rel32): the bytes say so, though they
 * may be part of another instruction. A visit that returns false ends it. */
typedef bool (*native_call_visit)(void *context, uint64_t address);
void native_code_callers(const struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context);
