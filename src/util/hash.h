// SPDX-License-Identifier: Apache-2.0
/*
 * A hash of bytes, for tables in memory only. Each process has its own seed, so a hostile target
 * cannot choose names or addresses that collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t size);
uint64_t hash_word(uint64_t word);

/*
 * An index with open addressing from hashes to ids. The owner of the entries compares them:
 *
 *      struct id_probe probe = id_index_probe(&index, hash);
 *      while ((id = id_probe_next(&probe)))
 *          if (entry of id equals)
 *              return id;
 *      hash_index_add(&index, hash, new_id);
 *
 * A slot has 8 bytes. At most two thirds of the slots are in use. An index of zeros is empty.
 */

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

void hash_index_free(struct id_index *index);
void hash_index_add(struct id_index *index, uint64_t hash, uint32_t id);

static inline struct id_probe id_index_probe(const struct id_index *index, uint64_t hash)
{
    return (struct id_probe){index, (uint32_t)hash, (uint32_t)hash & index->mask};
}

/* Return the next id that was added with this hash, 0 at the end. */
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
