// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the code of a process with the files that it is mapped from.
 *
 * The kernel writes the breakpoints of uprobes into the process's own copy of a page, so the file
 * shows what was there before. The code of the JIT has no file and is not compared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native/mappings.h"
#include "native/memory.h"

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
