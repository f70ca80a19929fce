// SPDX-License-Identifier: Apache-2.0
/*
 * The place in a function where a breakpoint is cheapest and shows the same as at the entry.
 *
 * The cost of a hit depends on the instruction (capture/calibration.h), and functions often begin
 * with an expensive one: endbr64, or a move. A few instructions further there is often one that the
 * kernel emulates. That place is as good as the entry on two conditions: the instructions before it
 * do not change what the program needs, and no jump leads between. Then each call passes the place
 * once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct parser;

/* What a program reads of a call. */
struct probe_needs {
    unsigned int arguments; /* arguments in registers, from the first, up to 6 */
    bool stack;             /* the return address at the stack pointer, or what lies behind it: all
                             * probes at return need that */
    bool no_nop5;           /* the place must not be a nop of five bytes (capture/probe_safety.h) */
};

/* The offset of that place in a function of `size` bytes, which `parser` decodes; 0 if only the
 * entry will do. The place is a nop of five bytes only at the entry. */
size_t probe_place(struct parser *parser, const uint8_t *code, size_t size,
                   const struct probe_needs *needs);

/* The address of that place for the code of `file` at `address` in the target; `address` itself if
 * no function is known to begin there. */
uint64_t probe_place_of(struct elf_file *file, uint64_t address, const struct probe_needs *needs);
