// SPDX-License-Identifier: Apache-2.0
/*
 * A linear hash table (erl_process_dict.h 25:25):
 *
 *   ProcDict   ... | usedSlots | ... | data[0] | data[1] | ...
 *
 * A slot is NIL, one entry, or a list of entries with equal hash; an entry is a tuple {Key, Value}.
 */
#include "beam/pdict.h"

#include "beam/term.h"

enum { SLOTS_MAX = 4096, ENTRIES_MAX = 8192, CHUNK = 64 };

struct walk {
    struct read_cache *cache;
    pdict_visit visit;
    void *context;
    unsigned int entries;
};

/* False ends the walk. */
static bool visit_entry(struct walk *walk, uint64_t entry)
{
    const uint64_t pair = 2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG;
    uint64_t words[3];

    if (walk->entries++ >= ENTRIES_MAX)
        return false;
    if (!term_is_boxed(entry) ||
        !read_cache_read(walk->cache, term_address(entry), words, sizeof(words)) ||
        words[0] != pair)
        return true;
    return walk->visit(walk->context, words[1], words[2]);
}

static bool visit_slot(struct walk *walk, uint64_t slot)
{
    uint64_t cell[2];

    for (; term_is_list(slot); slot = cell[1]) {
        if (!read_cache_read(walk->cache, term_address(slot), cell, sizeof(cell)))
            return true;
        if (!visit_entry(walk, cell[0]))
            return false;
    }
    return !term_is_boxed(slot) || visit_entry(walk, slot);
}

void pdict_each(struct vm *vm, struct read_cache *cache, uint64_t address, pdict_visit visit,
                void *context)
{
    struct walk walk = {.cache = cache, .visit = visit, .context = context};
    uint64_t data = address + (uint64_t)vm->layout.procdict_data, slots[CHUNK];
    uint32_t used;

    if (!read_cache_read(cache, address + (uint64_t)vm->layout.procdict_used, &used, sizeof(used)))
        return;
    if (used > SLOTS_MAX)
        used = SLOTS_MAX;
    for (uint32_t at = 0; at < used; at += CHUNK) {
        uint32_t count = used - at < CHUNK ? used - at : CHUNK;

        if (!read_cache_read(cache, data + at * sizeof(slots[0]), slots, count * sizeof(slots[0])))
            return;
        for (uint32_t i = 0; i < count; i++) {
            if (!visit_slot(&walk, slots[i]))
                return;
        }
    }
}
