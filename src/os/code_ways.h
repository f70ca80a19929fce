// SPDX-License-Identifier: Apache-2.0
/*
 * Whether x86-64 machine code that goes on from some point will still call a certain function.
 *
 * A function's ways are followed from the bytes of its file: also into what it jumps to (parts that
 * compilers put elsewhere, functions that it ends in), and not past calls that never return. What
 * is not known (where a computed jump leads to, code that can't be read) may do anything, so
 * CALL_NEVER and CALL_ALWAYS are certain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct code_ways;

enum call_ahead {
    CALL_UNKNOWN, /* not a point of this function */
    CALL_NEVER,   /* on no way */
    CALL_PERHAPS,
    CALL_ALWAYS, /* on each way to the function's end */
};

typedef bool (*code_call_wanted)(void *context, uint64_t function);

/* Of the function that starts at `function`, in regard to calls of any wanted one: target
 * addresses. NULL if it can't be read. The file is read now and not needed later. */
struct code_ways *code_ways_new(struct elf_file *file, uint64_t function, code_call_wanted wanted,
                                void *context);
void code_ways_free(struct code_ways *ways);

/* What is ahead at an instruction: one that has not run yet. While a call runs, its return
 * address. */
enum call_ahead code_ways_ahead(const struct code_ways *ways, uint64_t address);

/* Whether no way comes to a second call. Where the function is known to make one at most, it means
 * that its ways are known well. */
bool code_ways_call_once(const struct code_ways *ways);
