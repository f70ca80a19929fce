// SPDX-License-Identifier: Apache-2.0
#include "native/recent_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* A part begins at a multiple of this. */
enum { ALIGNMENT = 1 << 12 };

bool recent_bytes_copy(const struct recent_bytes *recent, uint64_t offset, void *buffer,
                       size_t size)
{
    for (unsigned int i = 0; i < RECENT_PARTS; i++) {
        const struct recent_part *part = &recent->parts[i];
        uint64_t at = offset - part->offset;

        if (part->size && at <= part->size && size <= part->size - at) {
            memcpy(buffer, part->bytes + at, size);
            return true;
        }
    }
    return false;
}

struct recent_part *recent_bytes_replace(struct recent_bytes *recent, uint64_t offset)
{
    struct recent_part *part = &recent->parts[recent->oldest];

    recent->oldest = (recent->oldest + 1) % RECENT_PARTS;
    if (!part->bytes)
        part->bytes = xmalloc(RECENT_PART_BYTES);
    part->offset = offset - offset % ALIGNMENT;
    part->size = 0;
    return part;
}

void recent_bytes_forget(struct recent_bytes *recent)
{
    for (unsigned int i = 0; i < RECENT_PARTS; i++)
        free(recent->parts[i].bytes);
    memset(recent, 0, sizeof(*recent));
}
