// SPDX-License-Identifier: Apache-2.0
/*
 * The weight of a sample in outputs. The user selects one of these by name:
 *
 * - a value of the event; without a selection, the first one
 * - a metric of the process (profile/metrics.h), or its change (output/changes/changes.h)
 * - "samples": each sample weighs 1; of a hit with several samples, the first one
 * - "cpu" or "wall": the time of that event; samples of other events are left out
 *
 * A CPU sample weighs the time that it stands for, in periods of the sampling frequency. So weights
 * are numbers of samples if all samples stand for the same time. The time stays in ns until it is
 * written, and sums are rounded, not samples: on a node that is half idle samples stand for less
 * than a period, and rounded one by one they would count up to 1.3 times too much.
 */
#pragma once

#include "output/number_text.h"
#include "output/output.h"

struct weight {
    uint64_t period; /* ns that count as 1 sample; 0: the value counts as it is */
    uint32_t value;  /* index in sample.values */
    bool is_metric;  /* the weight is `metric`, not the value */
    bool is_change;  /* the weight is the change of `metric` */
    bool is_one;     /* each hit with samples weighs 1 */
    enum metric metric;
    enum unit unit; /* of the weight */
    const char *name;
};

struct weight weight_of_event(const struct output_source *source, event_id event);

/* The same for formats with units: a CPU sample weighs the time that it stands for, in ns. */
struct weight weight_with_unit(const struct output_source *source, event_id event);

/* The same for outputs of values only: the first value if the selected weight is no value of the
 * event. */
struct weight weight_of_values(const struct output_source *source, event_id event);

enum { WEIGHTS_MAX = EVENT_VALUES + 2 };

/* Store all weights of an event, with units: the number of samples, named "samples"; each of its
 * values but levels, whose sums mean nothing (profile/events.h); and the selected weight if it is
 * none of these. Returns their number. `*ret_asked` is the index of the selected weight, or of the
 * default without a selection. */
size_t weights_of_event(const struct output_source *source, event_id event,
                        struct weight weights[WEIGHTS_MAX], size_t *ret_asked);

/* The weight of traffic between processes (output/traffic.h): the selected value of the event, else
 * its value "count", else its first value. */
struct weight weight_of_traffic(const struct output_source *source, event_id event);

/* The amount of a sample, to be added up: its weight, or for `weight->period` the time in ns. */
static inline uint64_t sample_amount(const struct weight *weight, const struct sample *sample)
{
    if (weight->is_one)
        return !sample->is_part;
    if (weight->is_change)
        return sample->change;
    if (weight->is_metric)
        return sample->metrics.values[weight->metric]; /* 0 if it is not known */
    return sample->values[weight->value];
}

/* A sum of amounts as a weight: for `weight->period` the nearest number of periods. */
static inline uint64_t weight_of_amount(const struct weight *weight, uint64_t amount)
{
    uint64_t period = weight->period;

    return period ? amount / period + (amount % period >= period - period / 2) : amount;
}

/* The weight of a sample that is written alone: at least 1 period. */
static inline uint64_t sample_weight(const struct weight *weight, const struct sample *sample)
{
    uint64_t count = weight_of_amount(weight, sample_amount(weight, sample));

    return count || !weight->period ? count : 1;
}

/* Rounds amounts to weights, one after the other. The next weight gets what rounding took from the
 * last one, so the sum of neighbours, and of all, is within 1 of the exact sum. */
struct weight_rounding {
    uint64_t amount, written;
};

/* `total` is the sum of the amounts that follow. If it rounds to 0 but is not 0, one of them gets
 * weight 1: a stack is not lost because it is alone. */
struct weight_rounding weight_rounding_begin(const struct weight *weight, uint64_t total);
uint64_t weight_round(struct weight_rounding *rounding, const struct weight *weight,
                      uint64_t amount);

/* A sum of amounts for people: "12 samples", "less than 1 sample", "1.5 ms", "1,234 words". */
struct number_text weight_text(const struct weight *weight, uint64_t sum);

/* Resolve names that the user selected; each may be NULL. *ret_event is the event named `event`, or
 * the event whose time is `value` ("cpu", "wall"), or 0. Check that `value` is a weight of this
 * event (of all events for 0). With `change`, check that it is a metric. Fails with ERROR_USAGE, or
 * with ERROR_NO_SAMPLES if only `value` names the event and the recording does not have it. */
int weight_select(const struct profile *profile, const char *event, const char *value, bool change,
                  event_id *ret_event, struct error *error);

/* The same for all selected events, each of which must have the value. *ret_event is the only one
 * of them, or 0 if there are several. */
int weight_select_all(const struct profile *profile, const struct event_choice *events,
                      const struct output_settings *settings, event_id *ret_event,
                      struct error *error);
