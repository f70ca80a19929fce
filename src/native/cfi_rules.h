// SPDX-License-Identifier: Apache-2.0
/* The rules for unwinding in a mapped file that are known so far. Addresses are the file's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cfi_rule;
struct elf_file;
struct known_rules;

/* Return the rule at `pc`, borrowed until the next call; NULL if there is none. `next` is the
 * instruction that runs next in the frame: if the file has no call-frame information for `pc`, its
 * code is followed from there. */
const struct cfi_rule *cfi_rules_find(struct elf_file *file, uint64_t pc, uint64_t next);

/* True if call-frame information of the file covers `pc`. */
bool cfi_rules_cover(struct elf_file *file, uint64_t pc);

void known_rules_free(struct known_rules *known);
