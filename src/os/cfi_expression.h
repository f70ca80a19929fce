// SPDX-License-Identifier: Apache-2.0
/*
 * DWARF expressions, as far as call-frame information uses them: PLT stubs compute their CFA from
 * rsp and the low bits of rip, signal frames load registers from where the kernel put them. There
 * are no branches in them, so evaluating one takes as many steps as it has operations.
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

/* What an expression can refer to. */
struct cfi_frame {
    const struct cfi_registers *registers;
    uint64_t cfa;
    cfi_read_word read;
    void *context;
};

/* Translate `count` operations to `compiled`. False if there is one that is not supported. */
bool cfi_expression_compile(const Dwarf_Op *ops, size_t count, struct cfi_op *compiled);

/* False if the stack of the expression over- or underflows, a register is not known or memory not
 * readable. */
bool cfi_expression_evaluate(const struct cfi_op *ops, size_t count, const struct cfi_frame *frame,
                             uint64_t *result);
