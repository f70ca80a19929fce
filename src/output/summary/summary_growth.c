// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

enum {
    WORD = 8,
    QUEUE_LEAST = 100, /* messages; less growth is of no interest */
    /* With fewer samples, chance explains growth. */
    QUEUE_SAMPLES = 3,
    MEMORY_SAMPLES = 5,
};

static const uint64_t MEMORY_LEAST = 1000000; /* bytes */
static const double AT_THE_END = 0.1; /* of the distance between the lowest and the highest */

/* ---- one value ---- */

void growth_range_add(struct growth_range *range, uint64_t value)
{
    if (!range->samples++)
        range->first = range->last = range->lowest = range->highest = value;
    if (range->last > value)
        range->fallen = saturating_sum(range->fallen, range->last - value);
    range->last = value;
    if (range->lowest > value)
        range->lowest = value;
    if (range->highest < value)
        range->highest = value;
}

static uint64_t rise_of(const struct growth_range *range)
{
    return range->last > range->first ? range->last - range->first : 0;
}

bool growth_range_is_growth(const struct growth_range *range, uint64_t least)
{
    uint64_t rise = rise_of(range);
    double distance = (double)(range->highest - range->lowest);

    return rise >= least && rise >= range->last / 10 && (double)rise >= distance * (1 - AT_THE_END);
}

bool growth_range_is_growth_of_memory(const struct growth_range *range)
{
    return range->fallen <= rise_of(range) / 2 && growth_range_is_growth(range, MEMORY_LEAST);
}

static bool is_growth(const struct growth_range *range, enum growth_kind kind)
{
    if (kind == GROWTH_QUEUE)
        return range->samples >= QUEUE_SAMPLES && growth_range_is_growth(range, QUEUE_LEAST);
    return range->samples >= MEMORY_SAMPLES && growth_range_is_growth_of_memory(range);
}

/* ---- all processes ---- */

void summary_growth_free(struct summary_growth *growth)
{
    free(growth->of);
}

static void add_metric(struct growth_range *range, const struct metrics *metrics,
                       enum metric metric)
{
    if (metrics_know(metrics, metric))
        growth_range_add(range, metrics->values[metric]);
}

/* Add the sum of two metrics in words, in bytes. */
static void add_words(struct growth_range *range, const struct metrics *metrics, enum metric one,
                      enum metric other)
{
    uint64_t words = saturating_sum(metrics->values[one], metrics->values[other]);

    if (metrics_know(metrics, one) && metrics_know(metrics, other))
        growth_range_add(range, words > UINT64_MAX / WORD ? UINT64_MAX : words * WORD);
}

void summary_growth_add(struct summary_growth *growth, uint32_t id, const struct metrics *metrics)
{
    struct growth_range *kinds;

    if (!metrics->known)
        return;
    growth->of = xgrow(growth->of, &growth->room, id, sizeof(*growth->of));
    kinds = growth->of[id].kinds;
    add_metric(&kinds[GROWTH_QUEUE], metrics, METRIC_MSGQ);
    add_metric(&kinds[GROWTH_MEMORY], metrics, METRIC_MEMORY);
    add_words(&kinds[GROWTH_HEAPS], metrics, METRIC_YOUNG, METRIC_OLD);
    add_words(&kinds[GROWTH_BINARIES], metrics, METRIC_BIN_VHEAP, METRIC_OLD_VHEAP);
}

uint32_t summary_growth_find(const struct summary_growth *growth, enum growth_kind kind)
{
    uint64_t most = 0;
    uint32_t found = 0;

    for (uint32_t id = 1; id < growth->room; id++) {
        const struct growth_range *range = &growth->of[id].kinds[kind];

        if (rise_of(range) <= most || !is_growth(range, kind))
            continue;
        most = rise_of(range);
        found = id;
    }
    return found;
}

uint32_t summary_growth_longest_queue(const struct summary_growth *growth)
{
    uint32_t found = 0;

    for (uint32_t id = 1; id < growth->room; id++) {
        const struct growth_range *range = &growth->of[id].kinds[GROWTH_QUEUE];

        if (range->samples &&
            (!found || range->highest > growth->of[found].kinds[GROWTH_QUEUE].highest))
            found = id;
    }
    return found;
}
