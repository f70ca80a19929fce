// SPDX-License-Identifier: Apache-2.0
/*
 * What a sample counts in outputs: one of its values, the first of its event if none was asked for.
 *
 * CPU samples count 1, or more for one that stands for more time than a period of the sampling
 * frequency (as when only part of the time was observed): so numbers stay numbers of samples where
 * all are alike.
 */
#pragma once

#include "output/number_text.h"
#include "output/output.h"

struct weight {
    uint64_t period; /* ns that count as 1 sample; 0: the value counts as it is */
    uint32_t value;  /* index in sample.values */
    enum unit unit;  /* of the value */
    string_id name;
};

struct weight weight_of_event(const struct output_source *source, event_id event);

/* Of what processes do to each other (output/traffic.h): how often, where no value is asked for. */
struct weight weight_of_traffic(const struct output_source *source, event_id event);

static inline uint64_t sample_weight(const struct weight *weight, const struct sample *sample)
{
    uint64_t value = sample->values[weight->value], period = weight->period, count;

    if (!period)
        return value;
    count = value / period + (value % period >= period / 2);
    return count ? count : 1;
}

/* A sum of weights for people: "12 samples", "1.5 ms", "1,234 words". */
struct number_text weight_text(const struct weight *weight, uint64_t sum);

/* Resolve names: the event of that name in *ret_event (0 where `event` is NULL), and check that it,
 * or else all there are, have that value. */
int weight_select(const struct profile *profile, const char *event, const char *value,
                  event_id *ret_event, struct error *error);
