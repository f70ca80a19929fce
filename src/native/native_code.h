// SPDX-License-Identifier: Apache-2.0
/*
 * The machine code in an ELF file: the target's memory may contain probes. Addresses are the
 * target's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native/mappings.h"
#include "native/memory.h"

struct elf_file;

/* Read code. False if `address` is not in an executable segment or the segment has fewer bytes. */
bool native_code_read(struct elf_file *file, uint64_t address, void *buffer, size_t size);

/* Visit each place that may be a direct call of `function`. The bytes match, but they may be
 * part of another instruction. */
typedef void (*native_call_visit)(void *context, uint64_t address);
void native_code_callers(struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context);

/* True if `address` is the start of an instruction of the function that starts at `function`. A
 * breakpoint anywhere else would change what the code does. Both are target addresses. */
bool native_code_instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address);

/* Free the table of functions that was read of the file. It is read again when it is needed. */
void native_code_forget(struct elf_file *file);

/* Find the start of the function that contains `address`, and the start of the next function (0 if
 * it is the last). All are target addresses. False if the function is unknown
 * (elf/function_table.h). */
bool native_code_find_function(struct elf_file *file, uint64_t address, uint64_t *start,
                               uint64_t *end);

/* Return the start of the function that contains `address`, or `address` if it is unknown: code
 * that no call-frame information covers is not part of the last function before it. */
uint64_t native_code_start(struct elf_file *file, uint64_t address);

/* ---- code_changes.c ---- */

/*
 * Compares the code of a process with the files that it is mapped from.
 *
 * The kernel writes the breakpoints of uprobes into the process's own copy of a page, so the file
 * shows what was there before. The code of the JIT has no file and is not compared.
 */

enum { CODE_CHANGE_BYTES = 5 };

/* Adjacent bytes that differ. */
struct code_change {
    const char *path;     /* of the file, as in struct mapping */
    uint64_t file_offset; /* of the first byte */
    uint64_t address;     /* in the process */
    size_t size;          /* all of the bytes; the first of them are below */
    uint8_t in_file[CODE_CHANGE_BYTES], in_memory[CODE_CHANGE_BYTES];
};

struct code_comparison {
    int files;            /* mappings that were compared */
    int left_out;         /* mappings of files that can't be opened */
    uint64_t bytes;       /* compared */
    uint64_t unread;      /* bytes that can't be read in memory or in the file */
    uint64_t changes;     /* runs of bytes that differ */
    uint64_t breakpoints; /* those that are one breakpoint */
};

/* Compare each executable mapping of a file with its file. Call `each` for each change in address
 * order, with a change that is valid during the call. A change that crosses a block of the
 * comparison counts as two. */
typedef void (*code_change_each)(void *context, const struct code_change *change);
struct code_comparison code_changes_compare(struct mappings *mappings, struct memory *memory,
                                            code_change_each each, void *context);

/* True if the change is a breakpoint. */
bool code_change_is_breakpoint(const struct code_change *change);
