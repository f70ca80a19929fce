// SPDX-License-Identifier: Apache-2.0
/*
 * The rule for unwinding from one frame to its caller at one instruction: libdw's answer, compiled
 * into a few bytes that need neither libdw nor the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "arch/cpu.h"
#include "util/buffer.h"

enum cfi_place_kind {
    PLACE_AT_CFA,        /* in memory at CFA + value */
    PLACE_CFA,           /* CFA + value itself */
    PLACE_REGISTER,      /* in register `value` */
    PLACE_AT_EXPRESSION, /* in memory at the result of the expression */
    PLACE_EXPRESSION,    /* the result of the expression */
};

/* The place of the caller's value of one register. */
struct cfi_place {
    uint8_t reg;
    uint8_t kind;
    uint16_t op_count; /* of an expression that begins at ops[value] */
    int32_t value;
};

/* An operation of a DWARF expression. The code is DWARF's own, but each family of 32 codes is
 * folded into one: CFI_PUSH_NUMBER and CFI_PUSH_REGISTER. */
struct cfi_op {
    uint8_t code;
    uint8_t reg;
    int64_t number;
};

enum {
    CFI_PUSH_NUMBER = 0x10,   /* DW_OP_constu */
    CFI_PUSH_REGISTER = 0x92, /* DW_OP_bregx: register + number */
    CFI_OPS_MAX = 256,        /* of a rule */
};

/* The operations of the expressions follow the places. */
struct cfi_rule {
    uint64_t end;         /* it holds up to this address in the file; 0: not known */
    uint8_t is_signal;    /* the caller was interrupted by a signal; it made no call */
    uint8_t is_outermost; /* the return address is undefined */
    uint8_t place_count;
    uint8_t cfa_register; /* CFA = register + cfa_offset, unless: */
    uint16_t op_count;
    uint16_t cfa_ops; /* > 0: CFA = the expression ops[0 ... cfa_ops) */
    int32_t cfa_offset;
    register_set same; /* those that already have the caller's value */
    struct cfi_place places[];
};

/* Compile `count` operations into `compiled`. False if one of them is not supported. */
bool cfi_tables_compile_expression(const Dwarf_Op *ops, size_t count, struct cfi_op *compiled);

/* The call-frame information of a file. */
struct cfi_tables;

/* `elf` is borrowed. */
struct cfi_tables *cfi_tables_new(Elf *elf);
void cfi_tables_free(struct cfi_tables *tables);

/* Append the rule for `pc`, an address in the file. Nothing if the file has no rule for it, or one
 * that exceeds the bounds of this module. */
void cfi_tables_rule(struct cfi_tables *tables, uint64_t pc, struct buffer *rule);

/* The start of the last function that begins at `pc` or before it, by .eh_frame_hdr; `pc` if that
 * is not known. */
uint64_t cfi_tables_function(const struct cfi_tables *tables, uint64_t pc);
