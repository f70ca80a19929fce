// SPDX-License-Identifier: Apache-2.0
/*
 * Where in a function a breakpoint costs least and tells the same.
 *
 * What a hit costs depends on the instruction (capture/calibration.h), and functions often begin
 * with a dear one: endbr64, or a move. A few instructions further lies one that the kernel
 * emulates: if those before it leave alone what the caller passed (arguments, stack, memory), and
 * no jump leads to between, then each call comes by once and a program there sees what it would
 * have seen at the entry. That holds for probes at return too, as the return address is still on
 * top of the stack.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Offset of that place in a function of `size` bytes, 0 if it is none but the entry. */
size_t probe_place(const uint8_t *code, size_t size);

/* The same for the code of `file` at `address` in the target; the address itself if no function
 * is known to begin there. */
uint64_t probe_place_of(const struct elf_file *file, uint64_t address);
