// SPDX-License-Identifier: Apache-2.0
/* Places in sorted lists. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return the index of the first element whose key is not below `key`; `count` if there is none. The
 * list has `count` elements of `size` bytes, ascending. Each element begins with its key, a
 * uint32_t. */
static inline size_t sorted_place(const void *list, size_t count, size_t size, uint32_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t found;

        memcpy(&found, (const char *)list + middle * size, sizeof(found));
        if (found < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the number of elements whose key is at most `key`. The list has `count` elements of `size`
 * bytes, ascending. `first` points to the key of the first element, a uint64_t; NULL if there is
 * none. */
static inline size_t sorted_until(const void *first, size_t count, size_t size, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t found;

        memcpy(&found, (const char *)first + middle * size, sizeof(found));
        if (found <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
