// SPDX-License-Identifier: Apache-2.0
#include "output/weight.h"

#include <string.h>

#include "profile/events.h"
#include "util/buffer.h"

static bool has_name(const struct profile *profile, string_id id, const char *name)
{
    return !strcmp(profile_text(profile, id), name);
}

/* The index of a value, the count of values if the event has no such one. */
static uint32_t find_value(const struct profile *profile, const struct event_entry *event,
                           const char *name)
{
    uint32_t i = 0;

    while (i < event->value_count && !has_name(profile, event->values[i].name, name))
        i++;
    return i;
}

/* `value`: index of the one that counts. */
static struct weight weight_by(const struct output_source *source, event_id id, uint32_t value)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    uint32_t frequency = source->header->frequency;
    struct weight weight = {.value = value};

    if (has_name(source->profile, event->name, EVENT_CPU) && frequency)
        weight.period = 1000000000u / frequency;
    weight.unit = event->values[weight.value].unit;
    weight.name = event->values[weight.value].name;
    return weight;
}

struct weight weight_of_event(const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);

    return weight_by(source, id,
                     source->value ? find_value(source->profile, event, source->value) : 0);
}

struct weight weight_of_traffic(const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    uint32_t count = find_value(source->profile, event, "count");

    if (source->value || count == event->value_count)
        return weight_of_event(source, id);
    return weight_by(source, id, count);
}

struct number_text weight_text(const struct weight *weight, uint64_t sum)
{
    struct number_text text = number_text(sum);

    if (!weight->period)
        return amount_text(sum, weight->unit);
    strcat(text.text, " samples");
    return text;
}

static void put_name(const struct profile *profile, string_id name, struct buffer *names)
{
    buffer_format(names, "%s%s", names->size ? ", " : "", profile_text(profile, name));
}

static int no_event(const struct profile *profile, const char *name, struct error *error)
{
    struct buffer names = {0};

    for (event_id id = 1; id <= profile_counts(profile).events; id++)
        put_name(profile, profile_get_event(profile, id)->name, &names);
    error_set(error, ERROR_USAGE, "the recording has no event '%s'; it has: %.*s", name,
              (int)names.size, names.data);
    buffer_free(&names);
    return -1;
}

static int no_value(const struct profile *profile, const struct event_entry *event,
                    const char *name, struct error *error)
{
    struct buffer names = {0};

    for (uint32_t i = 0; i < event->value_count; i++)
        put_name(profile, event->values[i].name, &names);
    error_set(error, ERROR_USAGE, "event %s has no value '%s'; it has: %.*s",
              profile_text(profile, event->name), name, (int)names.size, names.data);
    buffer_free(&names);
    return -1;
}

static int check_value(const struct profile *profile, event_id id, const char *value,
                       struct error *error)
{
    const struct event_entry *event = profile_get_event(profile, id);

    if (find_value(profile, event, value) < event->value_count)
        return 0;
    return no_value(profile, event, value, error);
}

int weight_select(const struct profile *profile, const char *event, const char *value,
                  event_id *ret_event, struct error *error)
{
    uint32_t count = profile_counts(profile).events;
    event_id found = 0;

    for (event_id id = 1; event && !found && id <= count; id++)
        if (has_name(profile, profile_get_event(profile, id)->name, event))
            found = id;
    if (event && !found)
        return no_event(profile, event, error);
    for (event_id id = found ? found : 1; value && id <= (found ? found : count); id++)
        if (check_value(profile, id, value, error))
            return -1;
    *ret_event = found;
    return 0;
}
