// SPDX-License-Identifier: Apache-2.0
#include "native/cfi.h"

#include "arch/cpu.h"
#include "native/cfi_internal.h"
#include "native/cfi_rules.h"
#include "native/elf_file.h"
#include "native/mappings.h"

enum cfi_result cfi_step(struct mappings *mappings, struct cfi_registers *registers, bool is_leaf,
                         cfi_read_word read, void *context)
{
    /* A call can be the last instruction of a function, so the next byte may have another rule. */
    bool exact = is_leaf || registers->exact_pc;
    uint64_t pc = registers->value[CPU_PC] - !exact;
    const struct cfi_rule *rule;
    struct mapping *mapping;
    struct elf_file *file;

    if (!registers_have(registers->known, CPU_PC))
        return CFI_NO_STACK;
    mapping = mappings_find_code(mappings, pc);
    file = mapping ? mapping_file(mappings, mapping) : NULL;
    if (!file)
        return CFI_NO_RULE;
    rule = cfi_rules_find(file, pc - file->bias, pc - file->bias + !exact);
    return rule ? cfi_rule_apply(rule, registers, read, context) : CFI_NO_RULE;
}
