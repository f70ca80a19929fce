// SPDX-License-Identifier: Apache-2.0
#include "output/prof/prof_events.h"

#include <stdlib.h>
#include <string.h>

#include "output/rows.h"
#include "profile/events.h"
#include "util/alloc.h"

/* ---- events of calls ---- */

/* The name of the function that an event counts, as frames show it: "lists:reverse/2", and
 * "Shop.Nif.add/2" for "nif:Elixir.Shop.Nif:add/2". Of other code it is the event's name. NULL: the
 * event does not count hits of a probe. */
static char *function_of(const char *event)
{
    static const char *const kinds[] = {EVENT_CALL, "bif:", "nif:"}, elixir[] = "Elixir.";
    const char *function = NULL;
    char *shown, *colon;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strncmp(event, kinds[i], strlen(kinds[i])))
            function = event + strlen(kinds[i]);
    if (!function)
        return !strncmp(event, "probe:", 6) || !strncmp(event, "usdt:", 5) ? xstrdup(event) : NULL;
    if (strncmp(function, elixir, strlen(elixir)) != 0)
        return xstrdup(function);
    shown = xstrdup(function + strlen(elixir));
    colon = strchr(shown, ':');
    if (colon)
        *colon = '.';
    return shown;
}

/* Use the event if it counts calls or hits. */
static void add_calls(struct prof_events *events, const struct profile *profile, event_id id)
{
    const struct event_entry *entry = profile_get_event(profile, id);
    struct prof_event *event = &events->of[id];
    uint32_t value = 0;

    while (value < entry->value_count &&
           strcmp(profile_text(profile, entry->values[value].name), "count") != 0)
        value++;
    if (value == entry->value_count)
        return;
    event->function = function_of(profile_text(profile, entry->name));
    if (!event->function)
        return;
    event->is_used = true;
    event->value = value;
    events->calls[events->call_count++] = id;
}

static int compare_functions(const void *a, const void *b, void *events)
{
    const struct prof_event *of = ((const struct prof_events *)events)->of;

    return strcmp(of[*(const event_id *)a].function, of[*(const event_id *)b].function);
}

event_id prof_events_of_function(const struct prof_events *events, const char *function)
{
    size_t low = 0, high = events->call_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(events->of[events->calls[middle]].function, function);

        if (!order)
            return events->calls[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* ---- the choice ---- */

/* The event of CPU time: cpu, or what perf calls a clock that counts ns. 0: none. */
static event_id find_cpu(const struct profile *profile)
{
    event_id cpu = event_find(profile, EVENT_CPU);

    for (event_id id = 1; !cpu && id <= profile_counts(profile).events; id++)
        if (event_clock_is_timer(profile_text(profile, profile_get_event(profile, id)->name)))
            cpu = id;
    return cpu;
}

static int choose_own(struct prof_events *events, const struct profile *profile, event_id own,
                      const char *name, struct error *error)
{
    if (!own)
        return event_choice_refuse(profile, name, ERROR_NO_SAMPLES, error);
    events->own = own;
    events->of[own].is_used = true;
    return 0;
}

int prof_events_choose(struct prof_events *events, const struct profile *profile,
                       enum prof_type type, struct error *error)
{
    uint32_t count = profile_counts(profile).events;
    int result = 0;

    *events = (struct prof_events){.of = xcalloc(count + 1, sizeof(*events->of)),
                                   .count = count,
                                   .calls = xcalloc(count + 1, sizeof(*events->calls))};
    for (event_id id = 1; id <= count; id++)
        add_calls(events, profile, id);
    qsort_r(events->calls, events->call_count, sizeof(*events->calls), compare_functions, events);
    events->is_time = type == PROF_TIME;
    if (events->is_time)
        result = choose_own(events, profile, find_cpu(profile), EVENT_CPU, error);
    else if (type == PROF_MEMORY)
        result = choose_own(events, profile, event_find(profile, EVENT_ALLOC), EVENT_ALLOC, error);
    else if (!events->call_count)
        result = error_set(error, ERROR_NO_SAMPLES,
                           "the recording has no counts of calls: record them with -e call:M:F/A, "
                           "bif:M:F/A, nif:M:F/A or probe:SYMBOL");
    if (result)
        prof_events_free(events);
    return result;
}

void prof_events_free(struct prof_events *events)
{
    for (event_id id = 1; id <= events->count; id++) {
        free(events->of[id].function);
        row_interval_free_whole(&events->of[id].whole);
    }
    free(events->of);
    free(events->calls);
}

void prof_events_cover(struct prof_events *events, const struct output_source *source, bool is_part)
{
    for (event_id id = 1; id <= events->count; id++) {
        struct prof_event *event = &events->of[id];

        if (events->is_time && id == events->own)
            event->cover =
                row_interval_cover_of_ticks(is_part || !event_is_cpu(source->profile, id));
        else if (event->is_used)
            event->cover = rows_cover(source, id, event->value, &event->whole, is_part);
    }
}
