// SPDX-License-Identifier: Apache-2.0
#include "native/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "native/cfi_internal.h"
#include "native/elf_file.h"
#include "native/mappings.h"
#include "util/alloc.h"
#include "util/hash.h"

/* The cache holds rules for at most three quarters of MOST_SLOTS addresses (3 MB). A full cache is
 * emptied. */
enum { FIRST_SLOTS = 1 << 10, MOST_SLOTS = 1 << 15 };

/* The rule for one address in one file. */
struct rule_slot {
    const struct elf_file *file; /* NULL: the slot is free */
    uint64_t pc;                 /* address in the file */
    struct cfi_rule *rule;       /* NULL: no rule */
};

struct cfi {
    struct mappings *mappings;
    struct rule_slot *slots; /* open addressing, linear probing */
    size_t slot_count;       /* a power of two */
    size_t used;
};

struct cfi *cfi_new(struct mappings *mappings)
{
    struct cfi *cfi = xcalloc(1, sizeof(*cfi));

    cfi->mappings = mappings;
    cfi->slot_count = FIRST_SLOTS;
    cfi->slots = xcalloc(cfi->slot_count, sizeof(*cfi->slots));
    return cfi;
}

static void drop_rules(struct cfi *cfi)
{
    for (size_t i = 0; i < cfi->slot_count; i++)
        free(cfi->slots[i].rule);
}

void cfi_free(struct cfi *cfi)
{
    if (!cfi)
        return;
    drop_rules(cfi);
    free(cfi->slots);
    free(cfi);
}

/* `next` is the instruction that runs next in the frame. */
static struct cfi_rule *compile(struct elf_file *file, uint64_t pc, uint64_t next)
{
    size_t size = 0;
    struct cfi_rule *rule = elf_file_rule(file, pc, &size);

    if (!rule)
        rule = cfi_code_rule(file, next, &size);
    if (rule && cfi_rule_is_sound(rule, size))
        return rule;
    free(rule);
    return NULL;
}

/* The slot of an address, or the free slot for it. */
static struct rule_slot *find_slot(struct rule_slot *slots, size_t count,
                                   const struct elf_file *file, uint64_t pc)
{
    uint64_t hash = hash_word(pc ^ (uint64_t)(uintptr_t)file << 16);
    size_t i = hash >> 32;

    while (slots[i & (count - 1)].file &&
           (slots[i & (count - 1)].file != file || slots[i & (count - 1)].pc != pc))
        i++;
    return &slots[i & (count - 1)];
}

static void make_room(struct cfi *cfi)
{
    size_t count = 2 * cfi->slot_count;
    struct rule_slot *slots;

    if (cfi->used < cfi->slot_count / 4 * 3)
        return;
    if (cfi->slot_count == MOST_SLOTS) {
        drop_rules(cfi);
        memset(cfi->slots, 0, cfi->slot_count * sizeof(*cfi->slots));
        cfi->used = 0;
        return;
    }
    slots = xcalloc(count, sizeof(*slots));
    for (size_t i = 0; i < cfi->slot_count; i++) {
        const struct rule_slot *old = &cfi->slots[i];

        if (old->file)
            *find_slot(slots, count, old->file, old->pc) = *old;
    }
    free(cfi->slots);
    cfi->slots = slots;
    cfi->slot_count = count;
}

static const struct cfi_rule *rule_for(struct cfi *cfi, struct elf_file *file, uint64_t pc,
                                       uint64_t next)
{
    struct rule_slot *slot = find_slot(cfi->slots, cfi->slot_count, file, pc);

    if (slot->file)
        return slot->rule;
    make_room(cfi);
    slot = find_slot(cfi->slots, cfi->slot_count, file, pc);
    *slot = (struct rule_slot){.file = file, .pc = pc, .rule = compile(file, pc, next)};
    cfi->used++;
    return slot->rule;
}

enum cfi_result cfi_step(struct cfi *cfi, struct cfi_registers *registers, bool is_leaf,
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
    mapping = mappings_find_code(cfi->mappings, pc);
    file = mapping ? mapping_file(cfi->mappings, mapping) : NULL;
    if (!file)
        return CFI_NO_RULE;
    rule = rule_for(cfi, file, pc - file->bias, pc - file->bias + !exact);
    return rule ? cfi_rule_apply(rule, registers, read, context) : CFI_NO_RULE;
}
