// SPDX-License-Identifier: Apache-2.0
#include "output/weight.h"

#include <string.h>

#include "output/event_choice.h"
#include "profile/events.h"
#include "util/buffer.h"
#include "util/number.h"

static const char SAMPLES[] = "samples";

static bool has_name(const struct profile *profile, string_id id, const char *name)
{
    return !strcmp(profile_text(profile, id), name);
}

/* Return the index of a value, or `value_count` if the event does not have it. */
static uint32_t find_value(const struct profile *profile, const struct event_entry *event,
                           const char *name)
{
    uint32_t i = 0;

    while (i < event->value_count && !has_name(profile, event->values[i].name, name))
        i++;
    return i;
}

/* Return the weight for the value with index `value`. */
static struct weight weight_by(const struct output_source *source, event_id id, uint32_t value)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    uint32_t frequency = source->header->frequency;
    struct weight weight = {.value = value};

    if (has_name(source->profile, event->name, EVENT_CPU) && frequency)
        weight.period = 1000000000u / frequency;
    weight.unit = event->values[weight.value].unit;
    weight.name = profile_text(source->profile, event->values[weight.value].name);
    return weight;
}

struct weight weight_of_values(const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    uint32_t value = source->value ? find_value(source->profile, event, source->value) : 0;

    return weight_by(source, id, value < event->value_count ? value : 0);
}

static bool is_timed(const char *name)
{
    return !strcmp(name, EVENT_CPU) || !strcmp(name, EVENT_WALL);
}

static struct weight weight_one(void)
{
    return (struct weight){.is_one = true, .unit = UNIT_COUNT, .name = SAMPLES};
}

struct weight weight_of_event(const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    struct weight weight = weight_of_values(source, id);
    enum metric metric;

    if (!source->value || find_value(source->profile, event, source->value) < event->value_count)
        return weight;
    if (!strcmp(source->value, SAMPLES))
        return weight_one();
    if (is_timed(source->value))
        weight.period = 0;
    if (!metric_find(source->value, &metric))
        return weight;
    return (struct weight){.is_metric = true,
                           .is_change = source->change,
                           .metric = metric,
                           .unit = metric_unit(metric),
                           .name = metric_name(metric)};
}

struct weight weight_with_unit(const struct output_source *source, event_id id)
{
    struct weight weight = weight_of_event(source, id);

    weight.period = 0;
    return weight;
}

static bool is_same(const struct weight *a, const struct weight *b)
{
    return a->is_one == b->is_one && a->is_metric == b->is_metric && a->value == b->value &&
           a->period == b->period;
}

/* The number of samples. A CPU sample counts as in outputs without units, unless the user asks for
 * samples that weigh 1. */
static struct weight weight_of_samples(const struct output_source *source, event_id id)
{
    struct weight weight = weight_by(source, id, 0);

    if (!weight.period || (source->value && !strcmp(source->value, SAMPLES)))
        return weight_one();
    weight.unit = UNIT_COUNT;
    weight.name = SAMPLES;
    return weight;
}

size_t weights_of_event(const struct output_source *source, event_id id,
                        struct weight weights[WEIGHTS_MAX], size_t *ret_asked)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    const char *name = profile_text(source->profile, event->name);
    const struct weight asked = weight_with_unit(source, id);
    size_t count = 0, i = 0;

    weights[count++] = weight_of_samples(source, id);
    for (uint32_t value = 0; value < event->value_count; value++) {
        if (event_value_is_level(name, value))
            continue;
        weights[count] = weight_by(source, id, value);
        weights[count++].period = 0;
    }
    while (i < count && !is_same(&weights[i], &asked))
        i++;
    if (i == count)
        weights[count++] = asked;
    *ret_asked = i;
    return count;
}

struct weight weight_of_traffic(const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    uint32_t count = find_value(source->profile, event, "count");

    if (count == event->value_count ||
        (source->value && find_value(source->profile, event, source->value) < event->value_count))
        return weight_of_values(source, id);
    return weight_by(source, id, count);
}

struct weight_rounding weight_rounding_begin(const struct weight *weight, uint64_t total)
{
    bool is_lost = total && !weight_of_amount(weight, total);

    return (struct weight_rounding){.amount = is_lost ? weight->period / 2 : 0};
}

uint64_t weight_round(struct weight_rounding *rounding, const struct weight *weight,
                      uint64_t amount)
{
    uint64_t rounded;

    if (!weight->period)
        return amount;
    rounding->amount = saturating_sum(rounding->amount, amount);
    rounded = weight_of_amount(weight, rounding->amount) - rounding->written;
    rounding->written += rounded;
    return rounded;
}

struct number_text weight_text(const struct weight *weight, uint64_t sum)
{
    uint64_t count = weight_of_amount(weight, sum);
    struct number_text text = number_text(count);

    if (!weight->period && !weight->is_one)
        return number_text_amount(sum, weight->unit);
    if (sum && !count)
        return (struct number_text){"less than 1 sample"};
    strcat(text.text, " samples");
    return text;
}

static void put_name(const struct profile *profile, string_id name, struct buffer *names)
{
    buffer_format(names, "%s%s", names->size ? ", " : "", profile_text(profile, name));
}

static void put_metrics(struct buffer *names)
{
    for (int i = 0; i < METRICS; i++)
        buffer_format(names, "%s%s", i ? ", " : "", metric_name((enum metric)i));
}

static int no_value(const struct profile *profile, const struct event_entry *event,
                    const char *name, struct error *error)
{
    struct buffer names = {0};

    for (uint32_t i = 0; i < event->value_count; i++)
        put_name(profile, event->values[i].name, &names);
    buffer_text(&names, "; and metrics of the process: ");
    put_metrics(&names);
    buffer_format(&names, "; or " EVENT_CPU " or " EVENT_WALL ", the time of these events, or %s",
                  SAMPLES);
    error_set(error, ERROR_USAGE, "event %s has no value '%s'; it has: %.*s",
              profile_text(profile, event->name), name, (int)names.size, names.data);
    buffer_free(&names);
    return -1;
}

static int check_value(const struct profile *profile, event_id id, const char *value,
                       struct error *error)
{
    const struct event_entry *event = profile_get_event(profile, id);
    enum metric metric;

    if (find_value(profile, event, value) < event->value_count || metric_find(value, &metric) ||
        is_timed(value) || !strcmp(value, SAMPLES))
        return 0;
    return no_value(profile, event, value, error);
}

/* Only metrics have a previous value to compare with. */
static int check_change(const char *value, struct error *error)
{
    struct buffer names = {0};
    enum metric metric;

    if (value && metric_find(value, &metric))
        return 0;
    put_metrics(&names);
    error_set(error, ERROR_USAGE, "--delta needs one of these metrics as --weight: %.*s",
              (int)names.size, names.data);
    buffer_free(&names);
    return -1;
}

int weight_select(const struct profile *profile, const char *event, const char *value, bool change,
                  event_id *ret_event, struct error *error)
{
    const char *wanted = value && is_timed(value) ? value : event;
    uint32_t count = profile_counts(profile).events;
    event_id found = wanted ? event_find(profile, wanted) : 0;

    if (change && check_change(value, error))
        return -1;
    if (event && strcmp(event, wanted) != 0)
        return error_set(error, ERROR_USAGE, "--weight %s is the time of event %s, not of %s",
                         value, value, event);
    if (wanted && !found)
        return event_choice_refuse(profile, wanted, event ? ERROR_USAGE : ERROR_NO_SAMPLES, error);
    for (event_id id = found ? found : 1; value && id <= (found ? found : count); id++)
        if (check_value(profile, id, value, error))
            return -1;
    *ret_event = found;
    return 0;
}

int weight_select_all(const struct profile *profile, const struct event_choice *events,
                      const struct output_settings *settings, event_id *ret_event,
                      struct error *error)
{
    uint32_t count = profile_counts(profile).events;

    if (!events->has)
        return weight_select(profile, settings->event, settings->value, settings->change, ret_event,
                             error);
    for (event_id id = events->first; id <= count; id++) {
        const char *name = profile_text(profile, profile_get_event(profile, id)->name);

        if (events->has[id] &&
            weight_select(profile, name, settings->value, settings->change, ret_event, error))
            return -1;
    }
    if (events->count > 1)
        *ret_event = 0;
    return 0;
}
