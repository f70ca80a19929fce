// SPDX-License-Identifier: Apache-2.0
#include "calls/call_rates.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

enum { PIECES_MAX = 3600 };

static const uint64_t SECOND = 1000000000;

struct call_rates {
    const struct call_counter *counter;
    uint32_t functions;
    uint64_t began, next, length; /* when the piece ends; of a piece, ns */
    uint64_t ends[PIECES_MAX];
    uint64_t *weights; /* until the end of each piece: PIECES_MAX of each function */
    size_t count;
};

struct call_rates *call_rates_new(const struct call_counter *counter, uint32_t functions,
                                  uint64_t now)
{
    struct call_rates *rates = xcalloc(1, sizeof(*rates));

    rates->counter = counter;
    rates->functions = functions;
    rates->began = now;
    rates->length = SECOND;
    rates->next = now + SECOND;
    rates->weights = xcalloc((size_t)functions * PIECES_MAX, sizeof(*rates->weights));
    return rates;
}

void call_rates_functions(struct call_rates *rates, uint32_t functions)
{
    size_t before = (size_t)rates->functions * PIECES_MAX, all = (size_t)functions * PIECES_MAX;
    uint64_t *weights;

    if (all == before)
        return;
    weights = xcalloc(all, sizeof(*weights));
    memcpy(weights, rates->weights, before * sizeof(*weights));
    free(rates->weights);
    rates->weights = weights;
    rates->functions = functions;
}

void call_rates_free(struct call_rates *rates)
{
    if (!rates)
        return;
    free(rates->weights);
    free(rates);
}

static uint64_t *weight_at(const struct call_rates *rates, uint32_t function, size_t piece)
{
    return &rates->weights[(size_t)function * PIECES_MAX + piece];
}

/* Merge each two pieces. */
static void merge(struct call_rates *rates)
{
    rates->count /= 2;
    rates->length *= 2;
    for (size_t i = 0; i < rates->count; i++) {
        rates->ends[i] = rates->ends[2 * i + 1];
        for (uint32_t f = 0; f < rates->functions; f++)
            *weight_at(rates, f, i) = *weight_at(rates, f, 2 * i + 1);
    }
}

void call_rates_end(struct call_rates *rates, uint64_t now)
{
    if (rates->count == PIECES_MAX)
        merge(rates);
    rates->ends[rates->count] = now - rates->began;
    for (uint32_t f = 0; f < rates->functions; f++)
        *weight_at(rates, f, rates->count) = call_counter_weight(rates->counter, f);
    rates->count++;
}

/* A piece that ends late does not delay the next ones, unless it is later than a piece is long. */
void call_rates_step(struct call_rates *rates, uint64_t now)
{
    if (now < rates->next)
        return;
    call_rates_end(rates, now);
    rates->next += rates->length;
    if (rates->next <= now)
        rates->next = now + rates->length;
}

size_t call_rates_count(const struct call_rates *rates)
{
    return rates->count;
}

const uint64_t *call_rates_ends(const struct call_rates *rates)
{
    return rates->ends;
}

/* Rounding is by the sum so far, so that pieces add up. */
uint64_t *call_rates_divide(const struct call_rates *rates, uint32_t function, uint64_t calls)
{
    uint64_t *pieces = xcalloc(rates->count + 1, sizeof(*pieces)), given = 0;
    uint64_t all = rates->count ? *weight_at(rates, function, rates->count - 1) : 0;

    for (size_t i = 0; all && i < rates->count; i++) {
        double share = (double)*weight_at(rates, function, i) / (double)all;
        uint64_t until = whole_part((double)calls * share + 0.5);

        pieces[i] = until - given;
        given = until;
    }
    return pieces;
}
