// SPDX-License-Identifier: Apache-2.0
/*
 * Puts samples that come slightly out of order back in order: they wait in a heap until samples
 * that are REORDER_NS newer have come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Samples of probes wait for their window to close, samples of the CPU for the ring buffer to be
 * read. */
#define REORDER_NS (500ull * 1000 * 1000)
/* Bound on memory; more than this in 500 ms is beyond any rate the kernel allows. */
#define REORDER_MAX ((size_t)256 << 10)

struct reorder {
    struct reorder_item *items;
    size_t count, capacity;
    uint64_t sequence; /* samples of one time stay in the order they came in */
    uint64_t newest;   /* time of the newest sample that came */
    uint64_t last;     /* time of the newest sample that was handed out */
    uint64_t late;     /* samples that came too late and got the time `last` */
};

void reorder_free(struct reorder *reorder);
void reorder_push(struct reorder *reorder, const struct sample *sample);
/* The next sample that waited long enough; with `all`, the next in any case. */
bool reorder_pop(struct reorder *reorder, bool all, struct sample *ret_sample);
