// SPDX-License-Identifier: Apache-2.0
/*
 * What a sample counts in outputs: one of its values, the first of its event if none was asked for;
 * or a metric of its process (profile/metrics.h), or the change of that (output/metric_changes.h);
 * or 1 ("samples"), or the time of event cpu or wall, and nothing of others ("cpu", "wall").
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
    bool is_metric;  /* then it is `metric` that counts, and not that value */
    bool is_change;  /* of the metric */
    bool is_one;     /* then each sample counts 1 */
    enum metric metric;
    enum unit unit; /* of what counts */
    const char *name;
};

struct weight weight_of_event(const struct output_source *source, event_id event);

/* The same where numbers have units: CPU samples count the time that they stand for. */
struct weight weight_with_unit(const struct output_source *source, event_id event);

/* Where only values of the event are of use: the first one, where a metric is asked for. */
struct weight weight_of_values(const struct output_source *source, event_id event);

enum { WEIGHTS_MAX = EVENT_VALUES + 2 };

/* All that a sample of the event can count, with units: 1, each of its values but levels, of which
 * sums mean nothing (profile/events.h), and what is asked for where it is none of these. Returns
 * how many; `*ret_asked` is the index of the one that is asked for, or counts where none is. */
size_t weights_of_event(const struct output_source *source, event_id event,
                        struct weight weights[WEIGHTS_MAX], size_t *ret_asked);

/* What such a weight is called where it stands for itself: "samples", "cpu" and "wall" for the time
 * of these events, else as the value is. */
const char *weight_type_name(const struct output_source *source, event_id event,
                             const struct weight *weight);

/* What its unit is called in pprof's format and those that come from it: "nanoseconds". */
const char *weight_type_unit(const struct weight *weight);

/* Of what processes do to each other (output/traffic.h): how often, where no value is asked for. */
struct weight weight_of_traffic(const struct output_source *source, event_id event);

static inline uint64_t sample_weight(const struct weight *weight, const struct sample *sample)
{
    uint64_t value = sample->values[weight->value], period = weight->period, count;

    if (weight->is_one)
        return 1;
    if (weight->is_change)
        return sample->change;
    if (weight->is_metric)
        return sample->metrics.values[weight->metric]; /* 0 if it is not known */
    if (!period)
        return value;
    count = value / period + (value % period >= period / 2);
    return count ? count : 1;
}

/* A sum of weights for people: "12 samples", "1.5 ms", "1,234 words". */
struct number_text weight_text(const struct weight *weight, uint64_t sum);

/* Resolve names: the event of that name, or whose time `value` is, in *ret_event (0 where none is
 * asked for), and check that it, or else all there are, have that value, or that it is a metric;
 * `change`: that it is. */
int weight_select(const struct profile *profile, const char *event, const char *value, bool change,
                  event_id *ret_event, struct error *error);
