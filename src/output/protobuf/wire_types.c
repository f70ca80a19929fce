// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf/wire_types.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/number.h"

enum { WORD_BYTES = 8, RENAMED_MAX = 2 };

struct wire_event {
    const char *event;
    const char *profile;
    const char *period, *period_unit;
    struct {
        const char *value, *name; /* ours, theirs; other values keep their names */
    } renamed[RENAMED_MAX];
};

/* The names that pages of Pyroscope and Parca know (Parca:
 * ui/packages/shared/profile/src/ProfileTypeSelector/index.tsx:29, v0.28.0), where the value is
 * what they stand for. Other events have their own name as the type of the period. */
static const struct wire_event wire_events[] = {
    {EVENT_CPU, "process_cpu", "cpu", "nanoseconds", {{"time", "cpu"}}},
    {EVENT_WALL, "wall", "wall", "nanoseconds", {{"time", "wall"}}},
    {EVENT_ALLOC, "memory", "space", "bytes", {{"words", "alloc_space"}}},
    {EVENT_SCHED, "block", "contentions", "count", {{"wait", "delay"}, {"delay", "run_queue"}}},
    {EVENT_MSG, "msg", "msg", "count", {{"words", "copied"}}},
};

static const char *event_name(const struct output_source *source)
{
    return profile_text(source->profile, profile_get_event(source->profile, source->event)->name);
}

static const struct wire_event *wire_event_named(const char *name)
{
    for (size_t i = 0; i < sizeof(wire_events) / sizeof(wire_events[0]); i++)
        if (!strcmp(wire_events[i].event, name))
            return &wire_events[i];
    return NULL;
}

static const char *wire_name(const struct wire_event *event, const char *value)
{
    for (size_t i = 0; event && i < RENAMED_MAX && event->renamed[i].value; i++)
        if (!strcmp(event->renamed[i].value, value))
            return event->renamed[i].name;
    return value;
}

/* Pyroscope refuses '-' in a type (pkg/validation/validate.go:390, v2.2.0), and its queries
 * separate types by ':'. */
static struct wire_type wire_type(const char *name, const char *unit)
{
    struct wire_type type = {.unit = unit};

    for (size_t i = 0; i < sizeof(type.name) - 1 && name[i]; i++)
        type.name[i] = isalnum((unsigned char)name[i]) ? name[i] : '_';
    return type;
}

static const char *wire_unit(enum unit unit)
{
    if (unit == UNIT_WORDS)
        return profile_unit_name(UNIT_BYTES);
    return unit == UNIT_NS ? "nanoseconds" : profile_unit_name(unit);
}

struct wire_type wire_type_of_weight(const struct output_source *source,
                                     const struct weight *weight)
{
    const struct wire_event *event = wire_event_named(event_name(source));
    bool is_value = !weight->is_one && !weight->is_metric && !weight->period;

    return wire_type(is_value ? wire_name(event, weight->name) : weight->name,
                     wire_unit(weight->unit));
}

int64_t wire_value(const struct weight *weight, uint64_t sum)
{
    if (weight->unit != UNIT_WORDS)
        return signed_number(sum);
    return sum > INT64_MAX / WORD_BYTES ? INT64_MAX : (int64_t)sum * WORD_BYTES;
}

struct wire_type wire_type_of_period(const struct output_source *source)
{
    const char *name = event_name(source);
    const struct wire_event *event = wire_event_named(name);

    return event ? wire_type(event->period, event->period_unit) : wire_type(name, "count");
}

/* Return the index of the weight that is the time of a sampled event, 0 if there is none. */
static size_t time_weight(const struct sample_groups *groups)
{
    const struct output_source *source = &groups->source;
    bool is_timed = event_is_cpu(source->profile, source->event) ||
                    event_is_wall(source->profile, source->event);

    for (size_t i = 1; is_timed && i < groups->weight_count; i++)
        if (!groups->weights[i].is_metric && groups->weights[i].unit == UNIT_NS)
            return i;
    return 0;
}

int64_t wire_period(const struct sample_groups *groups, const target_id *target)
{
    size_t time = time_weight(groups);
    uint64_t samples = 0, total = 0;
    int64_t period;

    for (uint32_t id = 1; time && id <= groups->keys.count; id++) {
        if (target && sample_group_get(groups, id)->who.target != *target)
            continue;
        samples = saturating_sum(samples, sample_group_sums(groups, id)[0]);
        total = saturating_sum(total, sample_group_sums(groups, id)[time]);
    }
    period = samples ? signed_number(total / samples) : 0;
    return period ? period : 1;
}

size_t wire_text_size(const char *text, size_t size)
{
    if (size <= WIRE_TEXT_MAX)
        return size;
    for (size = WIRE_TEXT_MAX; ((unsigned char)text[size] & 0xc0) == 0x80;)
        size--;
    return size;
}

struct wire_type wire_profile_of_event(const char *event)
{
    const struct wire_event *known = wire_event_named(event);

    return wire_type(known ? known->profile : event, NULL);
}

bool wire_node_has_name(const char *node)
{
    return *node && *node != '@' && strcmp(node, "nonode@nohost") != 0;
}

char *wire_service_name(const struct profile *profile, const struct target_entry *target)
{
    const char *node = profile_text(profile, target->node);
    const char *executable = profile_text(profile, target->executable);
    const char *slash = strrchr(executable, '/');
    char *given = attribute_list_find(profile_text(profile, target->attributes), "service.name");

    if (given && *given)
        return given;
    free(given);
    if (wire_node_has_name(node))
        return xstrndup(node, strcspn(node, "@"));
    return xasprintf("unknown_service%s%s", *executable ? ":" : "", slash ? slash + 1 : executable);
}
