// SPDX-License-Identifier: Apache-2.0
/* Applies rules for unwinding. */
#pragma once

#include "elf/cfi_tables.h"
#include "native/cfi.h"

/* True if `size` bytes are a rule that cfi_rule_apply() can take. They come from the parser, which
 * a hostile file may have taken over. */
bool cfi_rule_is_sound(const struct cfi_rule *rule, size_t size);

/* As cfi_step(), but never returns CFI_NO_RULE. */
enum cfi_result cfi_rule_apply(const struct cfi_rule *rule, struct cfi_registers *registers,
                               cfi_read_word read, void *context);
