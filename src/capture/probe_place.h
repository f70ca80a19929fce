// SPDX-License-Identifier: Apache-2.0
/*
 * Where in a function a breakpoint costs least and tells the same.
 *
 * What a hit costs depends on the instruction (capture/calibration.h), and functions often begin
 * with a dear one: endbr64, or a move. A few instructions further lies one that the kernel
 * emulates: if those before it leave alone what the program there needs, and no jump leads to
 * between, then each call comes by once and is seen as it would have been at the entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* What a program reads of a call. */
struct probe_needs {
    unsigned int arguments; /* the first ones that are in registers, up to 6 */
    bool stack;             /* the return address on top of the stack, or what lies behind it: all
                             * probes at return need that */
    bool no_nop5;           /* nor may the place be a nop of five bytes (capture/nop5.h) */
};

/* Offset of that place in a function of `size` bytes, 0 if it is none but the entry. It is a nop of
 * five bytes only at the entry. */
size_t probe_place(const uint8_t *code, size_t size, const struct probe_needs *needs);

/* The same for the code of `file` at `address` in the target; the address itself if no function
 * is known to begin there. */
uint64_t probe_place_of(const struct elf_file *file, uint64_t address,
                        const struct probe_needs *needs);
