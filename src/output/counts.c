// SPDX-License-Identifier: Apache-2.0
#include "output/counts.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

void counts_add(struct counts *counts, uint32_t id, uint64_t count)
{
    counts->of = xgrow(counts->of, &counts->size, id, sizeof(*counts->of));
    counts->of[id] = saturating_sum(counts->of[id], count);
}

void counts_free(struct counts *counts)
{
    free(counts->of);
    *counts = (struct counts){0};
}

size_t counts_top(const struct counts *counts, struct count_of_id *ret_top, size_t max)
{
    size_t found = 0;

    for (size_t id = 0; id < counts->size; id++) {
        uint64_t count = counts->of[id];
        size_t at = found;

        if (!count || (found == max && count <= ret_top[max - 1].count))
            continue;
        if (found < max)
            found++;
        else
            at--;
        for (; at && ret_top[at - 1].count < count; at--)
            ret_top[at] = ret_top[at - 1];
        ret_top[at] = (struct count_of_id){(uint32_t)id, count};
    }
    return found;
}
