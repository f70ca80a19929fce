// SPDX-License-Identifier: Apache-2.0
/* Samples built by hand, as the kernel side delivers them. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/snapshot.h"
#include "util/buffer.h"

struct fake_sample {
    struct wire_sample head;
    uint64_t kernel[WIRE_KERNEL_DEPTH];
    struct buffer regions[WIRE_REGIONS];
    void *bytes; /* the whole sample, after packing */
    size_t size;
};

static inline void fake_region(struct fake_sample *sample, uint32_t kind, uint64_t address,
                               const void *bytes, size_t size)
{
    uint32_t number = sample->head.region_count++;

    sample->head.regions[number] =
        (struct wire_region){.address = address, .size = (uint32_t)size, .kind = kind};
    buffer_put(&sample->regions[number], bytes, size);
}

/* Assemble the sample, aligned as in the ring buffer, with no byte after it. */
static inline void fake_sample_pack(struct fake_sample *sample)
{
    struct buffer all = {0};

    buffer_put(&all, &sample->head, sizeof(sample->head));
    buffer_put(&all, sample->kernel, sample->head.kernel_depth * sizeof(uint64_t));
    for (uint32_t i = 0; i < sample->head.region_count; i++)
        buffer_put(&all, sample->regions[i].data, sample->regions[i].size);
    free(sample->bytes);
    sample->bytes = malloc(all.size);
    sample->size = all.size;
    memcpy(sample->bytes, all.data, all.size);
    buffer_free(&all);
}

static inline bool fake_sample_open(struct fake_sample *sample, struct snapshot *snapshot)
{
    fake_sample_pack(sample);
    return snapshot_open(snapshot, sample->bytes, sample->size);
}

static inline void fake_sample_free(struct fake_sample *sample)
{
    for (uint32_t i = 0; i < WIRE_REGIONS; i++)
        buffer_free(&sample->regions[i]);
    free(sample->bytes);
    memset(sample, 0, sizeof(*sample));
}
