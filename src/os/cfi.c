// SPDX-License-Identifier: Apache-2.0
#include "os/cfi.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "os/cfi_rule.h"
#include "os/mappings.h"
#include "os/elf_limits.h"
#include "util/alloc.h"
#include "util/hash.h"

/* The cache holds rules for at most three quarters of MOST_SLOTS addresses (3 MB). A full cache is
 * emptied. */
enum { FIRST_SLOTS = 1 << 10, MOST_SLOTS = 1 << 15 };

/* The rule for one address in one file. */
struct slot {
    const struct elf_file *file; /* NULL: the slot is free */
    uint64_t pc;                 /* address in the file */
    struct cfi_rule *rule;       /* NULL: no rule */
};

/* The call-frame information of a file. */
struct tables {
    const struct elf_file *file;
    Dwarf_CFI *eh_frame;
    Dwarf *dwarf;
    Dwarf_CFI *debug_frame; /* owned by dwarf */
};

struct cfi {
    struct mappings *mappings;
    struct tables *tables;
    size_t table_count;
    struct slot *slots; /* open addressing, linear probing */
    size_t slot_count;  /* a power of two */
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
    for (size_t i = 0; i < cfi->table_count; i++) {
        dwarf_cfi_end(cfi->tables[i].eh_frame);
        dwarf_end(cfi->tables[i].dwarf);
    }
    free(cfi->tables);
    free(cfi->slots);
    free(cfi);
}

/* dwarf_begin_elf() reads all sections of debug information, which can be hundreds of megabytes. So
 * call it only for files with a .debug_frame. */
static bool has_debug_frame(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = NULL;

        if (gelf_getshdr(section, &header))
            name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, ".debug_frame") == 0 && header.sh_type != SHT_NOBITS)
            return true;
    }
    return false;
}

static struct tables *tables_of(struct cfi *cfi, const struct elf_file *file)
{
    struct tables *tables;
    GElf_Ehdr header;

    for (size_t i = 0; i < cfi->table_count; i++) {
        if (cfi->tables[i].file == file)
            return &cfi->tables[i];
    }
    cfi->tables = xreallocarray(cfi->tables, cfi->table_count + 1, sizeof(*cfi->tables));
    tables = &cfi->tables[cfi->table_count++];
    *tables = (struct tables){.file = file};
    if (!gelf_getehdr(file->elf, &header) || header.e_machine != cpu.elf)
        return tables;
    tables->eh_frame = dwarf_getcfi_elf(file->elf);
    if (has_debug_frame(file->elf) && elf_debug_fits(file->elf)) {
        tables->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
        tables->debug_frame = tables->dwarf ? dwarf_getcfi(tables->dwarf) : NULL;
    }
    return tables;
}

static struct cfi_rule *compile(struct cfi *cfi, const struct elf_file *file, uint64_t pc)
{
    struct tables *tables = tables_of(cfi, file);
    struct cfi_rule *rule = NULL;

    if (tables->eh_frame)
        rule = cfi_rule_compile(tables->eh_frame, pc);
    if (!rule && tables->debug_frame)
        rule = cfi_rule_compile(tables->debug_frame, pc);
    return rule;
}

/* The slot of an address, or the free slot for it. */
static struct slot *find_slot(struct slot *slots, size_t count, const struct elf_file *file,
                              uint64_t pc)
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
    struct slot *slots;

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
        const struct slot *old = &cfi->slots[i];

        if (old->file)
            *find_slot(slots, count, old->file, old->pc) = *old;
    }
    free(cfi->slots);
    cfi->slots = slots;
    cfi->slot_count = count;
}

static const struct cfi_rule *rule_for(struct cfi *cfi, const struct elf_file *file, uint64_t pc)
{
    struct slot *slot = find_slot(cfi->slots, cfi->slot_count, file, pc);

    if (slot->file)
        return slot->rule;
    make_room(cfi);
    slot = find_slot(cfi->slots, cfi->slot_count, file, pc);
    *slot = (struct slot){.file = file, .pc = pc, .rule = compile(cfi, file, pc)};
    cfi->used++;
    return slot->rule;
}

enum cfi_result cfi_step(struct cfi *cfi, struct cfi_registers *registers, bool is_leaf,
                         cfi_read_word read, void *context)
{
    /* A call can be the last instruction of a function, so the next byte may have another rule. */
    bool exact = is_leaf || registers->exact_pc;
    uint64_t pc = registers->value[CPU_PC] - !exact;
    const struct elf_file *file;
    const struct cfi_rule *rule;
    struct mapping *mapping;

    if (!registers_have(registers->known, CPU_PC))
        return CFI_NO_STACK;
    mapping = mappings_find_code(cfi->mappings, pc);
    file = mapping ? mapping_file(cfi->mappings, mapping) : NULL;
    if (!file)
        return CFI_NO_RULE;
    rule = rule_for(cfi, file, pc - file->bias);
    return rule ? cfi_rule_apply(rule, registers, read, context) : CFI_NO_RULE;
}
