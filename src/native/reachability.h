// SPDX-License-Identifier: Apache-2.0
/*
 * Determines whether code that continues from some point will still call a certain function.
 *
 * The paths of a function are followed in the code of its file. They include code that the function
 * jumps to: parts that the compiler put elsewhere, and functions that it tail-calls. They end at
 * calls that never return. Only direct calls and jumps count as calls of the function. Unknown code
 * (the target of a computed jump, code that can't be read) may do anything, so CALL_NEVER and
 * CALL_ALWAYS are certain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct reachability;

enum call_ahead {
    CALL_UNKNOWN, /* not an instruction of this function */
    CALL_NEVER,   /* on no path */
    CALL_PERHAPS,
    CALL_ALWAYS, /* on each path to the function's end */
};

typedef bool (*code_call_wanted)(void *context, uint64_t function);

/* Follow the paths of the function that starts at `function`, for calls of any function that
 * `wanted` accepts. Addresses are the target's. NULL if the function can't be read. The file is not
 * needed after this call. */
struct reachability *reachability_new(struct elf_file *file, uint64_t function,
                                      code_call_wanted wanted, void *context);
void reachability_free(struct reachability *reachability);

/* Return if the code from `address` on makes a wanted call: always, never or perhaps. The
 * instruction at `address` has not run yet; for a call in progress it is the return address. */
enum call_ahead reachability_call_ahead(const struct reachability *reachability, uint64_t address);

/* True if no path has a second call. If the function is known to make at most one call, this means
 * that its paths are well known: unknown code could make a second one. */
bool reachability_calls_once(const struct reachability *reachability);
