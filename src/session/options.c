// SPDX-License-Identifier: Apache-2.0
#include "session/options.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/function_name.h"
#include "beam/process_sweep.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/span.h"

/* ---- events ---- */

const char *session_options_event_names(void)
{
    static char names[256];

    if (!names[0])
        snprintf(names, sizeof(names), "cpu, wall, %s, " EVENT_CALL "MODULE:FUNCTION/ARITY",
                 event_kind_names());
    return names;
}

static int add_function(struct session_options *session, const char *text, struct error *error)
{
    struct function_name name;

    if (function_name_parse(text, &name, error))
        return -1;
    for (size_t i = 0; i < session->function_count; i++)
        if (!strcmp(session->functions[i], text))
            return 0;
    if (session->function_count == WIRE_CALL_FUNCTIONS)
        return error_set(error, ERROR_USAGE, "at most %d functions can be counted at once",
                         WIRE_CALL_FUNCTIONS);
    session->functions[session->function_count++] = text;
    return 0;
}

static int add_event(struct session_options *session, const char *name, struct error *error)
{
    struct event_request request;

    if (!strcmp(name, EVENT_CPU)) {
        session->cpu = true;
        return 0;
    }
    if (!strcmp(name, EVENT_WALL)) {
        session->wall = true;
        return 0;
    }
    if (begins_with(name, EVENT_CALL))
        return add_function(session, name + strlen(EVENT_CALL), error);
    if (event_kinds_parse_request(name, session_options_event_names(), &request, error))
        return -1;
    for (int i = 0; i < session->event_count; i++)
        if (!strcmp(session->events[i].name, name))
            return 0;
    if (session->event_count == EVENTS_MAX)
        return error_set(error, ERROR_USAGE, "at most %d events can be recorded at once",
                         EVENTS_MAX);
    session->events[session->event_count++] = request;
    return 0;
}

int session_options_add_events(struct session_options *session, char *list, struct error *error)
{
    char *rest = NULL;

    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (add_event(session, name, error))
            return -1;
    if (!session->cpu && !session->wall && !session->event_count && !session->function_count)
        return error_set(error, ERROR_USAGE, "-e needs an event; there are: %s",
                         session_options_event_names());
    return 0;
}

char *session_options_event(const struct session_options *session, size_t index)
{
    size_t events = (size_t)session->event_count;

    if (session->cpu && index-- == 0)
        return xstrdup(EVENT_CPU);
    if (session->wall && index-- == 0)
        return xstrdup(EVENT_WALL);
    if (index < events)
        return xstrdup(session->events[index].name);
    return index - events < session->function_count
               ? xasprintf(EVENT_CALL "%s", session->functions[index - events])
               : NULL;
}

/* Return the number of events. *ret_index: that of the event with this name, if there is one. */
static size_t find_event(const struct session_options *session, const char *name, size_t *ret_index)
{
    size_t count = 0;
    char *other;

    *ret_index = SIZE_MAX;
    for (; (other = session_options_event(session, count)); count++) {
        if (!strcmp(other, name))
            *ret_index = count;
        free(other);
    }
    return count;
}

int session_options_add_another(struct session_options *session, const char *name,
                                struct error *error)
{
    size_t index;

    if (!name[0] || strchr(name, ','))
        return error_set(error, ERROR_USAGE, "'%s' is not one event: add one at a time", name);
    find_event(session, name, &index);
    if (index != SIZE_MAX)
        return error_set(error, ERROR_USAGE, "event %s is recorded already", name);
    return add_event(session, name, error);
}

/* Move the elements after an index of an array one place down. */
#define REMOVE(array, count, index)                                                                \
    memmove(&(array)[index], &(array)[(index) + 1], (--(count) - (index)) * sizeof((array)[0]))

static void remove_event(struct session_options *session, size_t index)
{
    size_t events = (size_t)session->event_count;

    if (session->cpu && index-- == 0) {
        session->cpu = false;
    } else if (session->wall && index-- == 0) {
        session->wall = false;
    } else if (index < events) {
        REMOVE(session->events, events, index);
        session->event_count = (int)events;
    } else {
        REMOVE(session->functions, session->function_count, index - events);
    }
}

int session_options_remove_event(struct session_options *session, const char *name,
                                 struct error *error)
{
    size_t index, count = find_event(session, name, &index);

    if (index == SIZE_MAX)
        return error_set(error, ERROR_USAGE, "event '%s' is not recorded", name);
    if (count == 1)
        return error_set(error, ERROR_USAGE,
                         "%s is the only event: 'beamflame ctl stop' ends the recording", name);
    remove_event(session, index);
    return 0;
}

/* The part of the budget for so many events. A budget of everything is no limit. */
static double share_of(const struct session_options *session, int events)
{
    int all = session->event_count + (session->function_count > 0);

    return session->budget < 1 && events < all ? session->budget * events / all : session->budget;
}

double session_options_probe_budget(const struct session_options *session)
{
    return share_of(session, session->event_count);
}

double session_options_call_budget(const struct session_options *session)
{
    return share_of(session, 1);
}

struct target_plan session_options_plan(const struct session_options *session)
{
    return (struct target_plan){.cpu = session->cpu,
                                .frequency = session->frequency,
                                .wall_frequency = session->wall ? session->wall_frequency : 0,
                                .events = UINT32_MAX};
}

uint32_t session_options_find_events(const struct session_options *session, const char *list)
{
    uint32_t found = 0;

    _Static_assert(EVENTS_MAX <= 32, "a bit for each event");
    while (*list) {
        size_t size = strcspn(list, ",");

        for (int i = 0; i < session->event_count; i++)
            if (strlen(session->events[i].name) == size &&
                !memcmp(session->events[i].name, list, size))
                found |= 1u << i;
        list += size + (list[size] == ',');
    }
    return found;
}

/* ---- processes of event wall ---- */

static const char DEFAULT[] = "+reductions";
static const double SECONDS_MAX = 1e9;

/* Cut the text at its first colon. Return the text after it, or NULL. */
static char *cut(char *text)
{
    char *colon = text ? strchr(text, ':') : NULL;

    if (colon)
        *colon++ = '\0';
    return colon;
}

static int parse_metric(const char *text, struct top_option *top, struct error *error)
{
    top->by_growth = *text == '+';
    if (metric_find(text + top->by_growth, &top->metric) && process_top_ranks(top->metric))
        return 0;
    return error_set(
        error, ERROR_USAGE,
        "--top can't choose by '%s', but by %s; put + before METRIC to use its growth: +msgq", text,
        STRUCT_METRICS);
}

int session_options_parse_top(char *text, struct top_option *top, struct error *error)
{
    char *metric = cut(text), *seconds = cut(metric), *end;
    long count = strtol(text, &end, 10);

    if (end == text || *end || count < 1 || count > TOP_MAX)
        return error_set(error, ERROR_USAGE, "--top must be a whole number from 1 to %d, not '%s'",
                         TOP_MAX, text);
    *top = (struct top_option){.count = (size_t)count};
    if (parse_metric(metric && *metric ? metric : DEFAULT, top, error))
        return -1;
    if (!seconds)
        return 0;
    top->seconds = strtod(seconds, &end);
    if (end == seconds || *end || !isfinite(top->seconds) || top->seconds <= 0 ||
        top->seconds > SECONDS_MAX)
        return error_set(error, ERROR_USAGE,
                         "the seconds of --top must be a positive number, not '%s'", seconds);
    return 0;
}
