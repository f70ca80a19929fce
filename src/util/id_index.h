// SPDX-License-Identifier: Apache-2.0
/*
 * Open-addressing index from a hash to ids. It holds no entries: the owner of the entries tells
 * which of the ids it is handed is the right one.
 *
 *      struct id_probe probe = id_index_probe(&index, hash);
 *      while ((id = id_probe_next(&probe)))
 *          if (entry of id equals)
 *              return id;
 *      id_index_add(&index, hash, new_id);
 *
 * A slot is 8 bytes and at most two of three are in use. All zero is an empty index.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct id_slot {
    uint32_t hash;
    uint32_t id; /* 0: empty */
};

struct id_index {
    struct id_slot *slots;
    size_t mask; /* number of slots (a power of two) minus 1 */
    size_t used;
};

struct id_probe {
    const struct id_index *index;
    uint32_t hash;
    size_t at;
};

void id_index_free(struct id_index *index);
void id_index_add(struct id_index *index, uint64_t hash, uint32_t id);

static inline struct id_probe id_index_probe(const struct id_index *index, uint64_t hash)
{
    return (struct id_probe){index, (uint32_t)hash, (uint32_t)hash & index->mask};
}

/* The next id that was added with this hash, 0 if there is none. */
static inline uint32_t id_probe_next(struct id_probe *probe)
{
    const struct id_index *index = probe->index;

    if (!index->slots)
        return 0;
    for (;;) {
        const struct id_slot *slot = &index->slots[probe->at];

        if (!slot->id)
            return 0;
        probe->at = (probe->at + 1) & index->mask;
        if (slot->hash == probe->hash)
            return slot->id;
    }
}
