// SPDX-License-Identifier: Apache-2.0
/* Sums by id, for ids that are small and dense: of[id], for ids below `size`. All zero is empty. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct counts {
    uint64_t *of;
    size_t size;
};

struct count_of_id {
    uint32_t id;
    uint64_t count;
};

void counts_add(struct counts *counts, uint32_t id, uint64_t count);
void counts_free(struct counts *counts);
/* Store the ids with the greatest sums, the greatest first. Returns their number, at most `max`;
 * ids with sum 0 are left out. */
size_t counts_top(const struct counts *counts, struct count_of_id *ret_top, size_t max);
