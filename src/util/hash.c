// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "util/alloc.h"

/* Odd, with about half of its bits set and no pattern: the fraction of the golden ratio. */
#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

/* A seed from the random bytes that the kernel gives to every process (getauxval(3), AT_RANDOM). */
static uint64_t hash_seed(void)
{
    static uint64_t seed;

    if (!seed) {
        const void *random = (const void *)getauxval(AT_RANDOM);

        if (random)
            memcpy(&seed, random, sizeof(seed));
        seed |= 1;
    }
    return seed;
}

/* Combine both halves of the full product, so that every bit of the result depends on every bit of
 * `a`. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *at = data;
    uint64_t hash = hash_seed() ^ (size * HASH_FACTOR), word;

    for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = hash_mix(hash ^ word, HASH_FACTOR);
    }
    if (size) {
        word = 0;
        memcpy(&word, at, size);
        hash = hash_mix(hash ^ word, HASH_FACTOR);
    }
    return hash_mix(hash, HASH_FACTOR);
}

uint64_t hash_word(uint64_t word)
{
    return hash_mix(hash_seed() ^ word, HASH_FACTOR);
}

#define ID_INDEX_FIRST 64

void hash_index_free(struct id_index *index)
{
    free(index->slots);
    *index = (struct id_index){0};
}

static void id_index_put(struct id_index *index, struct id_slot slot)
{
    size_t at = slot.hash & index->mask;

    while (index->slots[at].id)
        at = (at + 1) & index->mask;
    index->slots[at] = slot;
}

static void id_index_grow(struct id_index *index)
{
    struct id_index old = *index;
    size_t size = old.slots ? (old.mask + 1) * 2 : ID_INDEX_FIRST;

    index->slots = xcalloc(size, sizeof(*index->slots));
    index->mask = size - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].id)
            id_index_put(index, old.slots[i]);
    free(old.slots);
}

void hash_index_add(struct id_index *index, uint64_t hash, uint32_t id)
{
    if (!index->slots || (index->used + 1) * 3 > (index->mask + 1) * 2)
        id_index_grow(index);
    id_index_put(index, (struct id_slot){(uint32_t)hash, id});
    index->used++;
}
