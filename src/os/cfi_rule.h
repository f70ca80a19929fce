// SPDX-License-Identifier: Apache-2.0
/*
 * The rule for unwinding from one frame to its caller at one instruction: libdw's answer, compiled
 * into a few bytes that need neither libdw nor the file.
 */
#pragma once

#include <stdint.h>

#include <elfutils/libdw.h>

#include "os/cfi.h"

struct cfi_rule;

/* Return the rule for `pc`, an address in the file; free() it. NULL if `table` has no rule, or one
 * that exceeds the bounds of this module. */
struct cfi_rule *cfi_rule_compile(Dwarf_CFI *table, uint64_t pc);

/* As cfi_step(), but never returns CFI_NO_RULE. */
enum cfi_result cfi_rule_apply(const struct cfi_rule *rule, struct cfi_registers *registers,
                               cfi_read_word read, void *context);
