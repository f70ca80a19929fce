// SPDX-License-Identifier: Apache-2.0
/*
 * DWARF expressions, as far as call-frame information uses them. PLT stubs of x86-64 compute their
 * CFA from rsp and the low bits of rip. Signal frames load registers from where the kernel saved
 * them. Branches are not supported, so evaluating an expression takes as many steps as it has
 * operations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "os/cfi.h"

struct cfi_op {
    uint8_t code;
    uint8_t reg;
    int64_t number;
};

/* The frame that an expression refers to. */
struct cfi_frame {
    const struct cfi_registers *registers;
    uint64_t cfa;
    cfi_read_word read;
    void *context;
};

/* Compile `count` operations into `compiled`. False if one of them is not supported. */
bool cfi_expression_compile(const Dwarf_Op *ops, size_t count, struct cfi_op *compiled);

/* Evaluate an expression. False if its stack overflows or underflows, a register is unknown, memory
 * can't be read, or no result is left. */
bool cfi_expression_evaluate(const struct cfi_op *ops, size_t count, const struct cfi_frame *frame,
                             uint64_t *result);
