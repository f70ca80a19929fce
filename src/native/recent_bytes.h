// SPDX-License-Identifier: Apache-2.0
/* Parts of a file that were read last: searches in code read the same few parts many times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECENT_PARTS = 4, RECENT_PART_BYTES = 1 << 14 };

struct recent_bytes {
    struct recent_part {
        uint64_t offset; /* in the file */
        size_t size;     /* 0: none */
        uint8_t *bytes;  /* RECENT_PART_BYTES; NULL: not used yet */
    } parts[RECENT_PARTS];
    unsigned int oldest; /* the next one to be replaced */
};

/* Copy `size` bytes at `offset` of the file if a part has them all. */
bool recent_bytes_copy(const struct recent_bytes *recent, uint64_t offset, void *buffer,
                       size_t size);

/* Replace the oldest part by one that contains `offset`. Return it without bytes: read them from
 * part->offset into part->bytes, and set part->size. */
struct recent_part *recent_bytes_replace(struct recent_bytes *recent, uint64_t offset);

void recent_bytes_forget(struct recent_bytes *recent);
