// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes machine code with a large library. The code may come from a hostile target, so only a
 * process without rights may call this (elf/service.h); all others use arch/decoder.h.
 */
#pragma once

#include "arch/code_bytes.h"
#include "util/buffer.h"

struct disassembler;

/* NULL if the library can't be used. */
struct disassembler *disassembler_new(void);
void disassembler_free(struct disassembler *disassembler);

/* Append the instructions at the beginning of the code (arch/instruction.h), in order, each with
 * the instruction_bytes() of its assignments. End at bytes that are no instruction, or before
 * `answer` would be larger than `size_max` bytes. */
void disassemble(struct disassembler *disassembler, struct code_bytes code, size_t size_max,
                 struct buffer *answer);
