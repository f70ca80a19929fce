// SPDX-License-Identifier: Apache-2.0
/*
 * Sorts samples that come slightly out of order. Each sample waits in a heap until a sample has
 * come that is REORDER_NS newer, and until no older sample is known to come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Samples of probes come late because they wait for their window to close. CPU samples come late
 * because they wait for the ring buffer to be read. */
#define REORDER_NS (500ull * 1000 * 1000)
/* Limits memory. No rate that the kernel allows gives more samples than this in 500 ms. */
#define REORDER_MAX ((size_t)256 << 10)

struct reorder {
    struct reorder_item *items;
    size_t count, capacity;
    uint64_t sequence; /* keeps the order of samples with equal times */
    uint64_t newest;   /* time of the newest sample that came */
    uint64_t wait_for; /* samples from this time on are known to come; UINT64_MAX: none */
    uint64_t last;     /* time of the newest sample that was popped */
    uint64_t late;     /* samples that came too late and got the time `last` */
};

void reorder_free(struct reorder *reorder);
void reorder_push(struct reorder *reorder, const struct sample *sample);
/* Take the next sample that has waited long enough or, with `all`, the next one in any case. False
 * if there is none. */
bool reorder_pop(struct reorder *reorder, bool all, struct sample *ret_sample);
