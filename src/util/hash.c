// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <string.h>
#include <sys/auxv.h>

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
