// SPDX-License-Identifier: Apache-2.0
/* Rules for unwinding, as cfi.c, cfi_rule.c and cfi_expression.c share them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/cfi_tables.h"
#include "native/cfi.h"

struct elf_file;

/* ---- rules ---- */

/* True if `size` bytes are a rule that cfi_rule_apply() can take. They come from the parser, which
 * a hostile file may have taken over. */
bool cfi_rule_is_sound(const struct cfi_rule *rule, size_t size);

/* Return the rule for unwinding at an instruction of a file without call-frame information, found
 * from its code (cfi_code.c), malloc'ed, and its size; NULL if the code does not show it. `pc` is
 * an address in the file, of the instruction that runs next: for a caller, the return address. */
struct cfi_rule *cfi_code_rule(struct elf_file *file, uint64_t pc, size_t *size);

/* As cfi_step(), but never returns CFI_NO_RULE. */
enum cfi_result cfi_rule_apply(const struct cfi_rule *rule, struct cfi_registers *registers,
                               cfi_read_word read, void *context);

/* ---- expressions ---- */

/*
 * DWARF expressions, as far as call-frame information uses them. PLT stubs of x86-64 compute their
 * CFA from rsp and the low bits of rip. Signal frames load registers from where the kernel saved
 * them. Branches are not supported, so evaluating an expression takes as many steps as it has
 * operations.
 */

/* The frame that an expression refers to. */
struct cfi_frame {
    const struct cfi_registers *registers;
    uint64_t cfa;
    cfi_read_word read;
    void *context;
};

/* Evaluate an expression. False if its stack overflows or underflows, a register is unknown, memory
 * can't be read, or no result is left. */
bool cfi_expression_evaluate(const struct cfi_op *ops, size_t count, const struct cfi_frame *frame,
                             uint64_t *result);
