// SPDX-License-Identifier: Apache-2.0
#include "profile/events.h"

#include <string.h>

#include "util/span.h"

struct event_values {
    const char *name; /* a prefix of event names if it ends in ':' */
    struct {
        const char *name;
        enum unit unit;
    } values[EVENT_VALUES];
    const char *shown; /* in help; NULL: the name */
};

/* Only calls that return have a time. */
#define CALL_VALUES                                                                                \
    {                                                                                              \
        [CALL_TIME] = {"time", UNIT_NS}, [CALL_COUNT] = {"count", UNIT_COUNT},                     \
    }

/* Stands for "probe:" with an offset. */
#define PLACE_PROBE "probe:+"

static const struct event_values kinds[] = {
    {EVENT_CPU, {[CPU_TIME] = {"time", UNIT_NS}}},
    {EVENT_WALL,
     {
         [WALL_TIME] = {"time", UNIT_NS},
         [WALL_COUNT] = {"count", UNIT_COUNT},
     }},
    {EVENT_GC,
     {
         [GC_TIME] = {"time", UNIT_NS},
         [GC_COUNT] = {"count", UNIT_COUNT},
         [GC_RECLAIMED] = {"reclaimed", UNIT_WORDS},
         [GC_BINARIES] = {"binaries", UNIT_BYTES},
         [GC_HEAP_BEFORE] = {"heap-before", UNIT_WORDS},
         [GC_HEAP_AFTER] = {"heap-after", UNIT_WORDS},
     }},
    {"alloc",
     {
         [ALLOC_WORDS] = {"words", UNIT_WORDS},
         [ALLOC_COUNT] = {"count", UNIT_COUNT},
         [ALLOC_BINARIES] = {"binaries", UNIT_BYTES},
     }},
    {EVENT_SCHED,
     {
         [SCHED_WAIT] = {"wait", UNIT_NS},
         [SCHED_DELAY] = {"delay", UNIT_NS},
         [SCHED_COUNT] = {"count", UNIT_COUNT},
         [SCHED_LONG] = {"long", UNIT_NS},
     }},
    {EVENT_MSG,
     {
         [MSG_COUNT] = {"count", UNIT_COUNT},
         [MSG_WORDS] = {"words", UNIT_WORDS},
         [MSG_DELAY] = {"delay", UNIT_NS},
         [MSG_RECEIVED] = {"received", UNIT_COUNT},
         [MSG_SIGNALS] = {"signals", UNIT_COUNT},
     }},
    {EVENT_CALL, {[PLACE_COUNT] = {"count", UNIT_COUNT}}},
    {"bif:", CALL_VALUES},
    {"nif:", CALL_VALUES},
    {"probe:", CALL_VALUES, "probe:SYMBOL"},
    {PLACE_PROBE, {[PLACE_COUNT] = {"count", UNIT_COUNT}}, "probe:SYMBOL+OFFSET"},
    {"usdt:", {[PLACE_COUNT] = {"count", UNIT_COUNT}}},
};

bool event_clock_is_timer(const char *name)
{
    return begins_with(name, "cpu-clock") || begins_with(name, "task-clock");
}

static bool is_of_kind(const char *name, const char *kind)
{
    size_t size = strlen(kind);

    if (!strncmp(name, "probe:", strlen("probe:")) && strchr(name, '+'))
        return !strcmp(kind, PLACE_PROBE);
    if (kind[size - 1] == ':')
        return !strncmp(name, kind, size) && name[size];
    return !strcmp(name, kind);
}

static event_id define(struct profile *profile, const char *name, const struct event_values *kind)
{
    struct event_entry event = {.name = profile_string_z(profile, name)};

    for (; event.value_count < EVENT_VALUES && kind->values[event.value_count].name;
         event.value_count++)
        event.values[event.value_count] = (struct event_value){
            profile_string_z(profile, kind->values[event.value_count].name),
            kind->values[event.value_count].unit,
        };
    return profile_event(profile, &event);
}

/* The kind of event with this name, or NULL. */
static const struct event_values *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is_of_kind(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

event_id event_find(const struct profile *profile, const char *name)
{
    event_id id = profile_counts(profile).events;

    while (id && strcmp(profile_text(profile, profile_get_event(profile, id)->name), name) != 0)
        id--;
    return id;
}

event_id event_define(struct profile *profile, const char *name)
{
    const struct event_values *kind = kind_named(name);

    return kind ? define(profile, name, kind) : 0;
}

bool event_is_known(const char *name)
{
    return kind_named(name) != NULL;
}

bool event_value_is_level(const char *event, uint32_t value)
{
    return !strcmp(event, EVENT_GC) && (value == GC_HEAP_BEFORE || value == GC_HEAP_AFTER);
}

bool event_has_peers(const char *event)
{
    return !strcmp(event, EVENT_SCHED) || !strcmp(event, EVENT_MSG);
}

void events_text(struct buffer *text)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        buffer_format(text, "  %-19s", kinds[i].shown ? kinds[i].shown : kinds[i].name);
        for (int v = 0; v < EVENT_VALUES && kinds[i].values[v].name; v++)
            buffer_format(text, "%s %s", v ? "," : "", kinds[i].values[v].name);
        buffer_text(text, "\n");
    }
}

static bool is_named(const struct profile *profile, event_id id, const char *name)
{
    return !strcmp(profile_text(profile, profile_get_event(profile, id)->name), name);
}

bool event_is_gc(const struct profile *profile, event_id id)
{
    return is_named(profile, id, EVENT_GC);
}

bool event_is_cpu(const struct profile *profile, event_id id)
{
    return is_named(profile, id, EVENT_CPU);
}

bool event_is_wall(const struct profile *profile, event_id id)
{
    return is_named(profile, id, EVENT_WALL);
}

bool event_is_sched(const struct profile *profile, event_id id)
{
    return is_named(profile, id, EVENT_SCHED);
}

bool event_is_msg(const struct profile *profile, event_id id)
{
    return is_named(profile, id, EVENT_MSG);
}
