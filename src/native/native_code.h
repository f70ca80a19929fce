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
bool native_code_read(struct elf_file *file, uint64_t address, void *buffer, size_t size);

/* Visit each place that may be a direct call of `function`. The bytes match, but they may be
 * part of another instruction. A visit that returns false ends the search. */
typedef bool (*native_call_visit)(void *context, uint64_t address);
void native_code_callers(struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context);

/* True if `address` is the start of an instruction of the function that starts at `function`. A
 * breakpoint anywhere else would change what the code does. Both are target addresses. */
bool native_code_instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address);

/*
 * Finds function boundaries without symbols. The table of .eh_frame_hdr, which stripped binaries
 * keep for unwinding, lists the start of each function (Linux Standard Base Core 5.0, 10.6.2).
 */

/* Find the start of the function that contains `address`, and the start of the next function (0 if
 * it is the last). All are target addresses. False if the function is unknown. */
bool native_code_find_function(struct elf_file *file, uint64_t address, uint64_t *start,
                               uint64_t *end);
