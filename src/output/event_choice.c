// SPDX-License-Identifier: Apache-2.0
#include "output/event_choice.h"

#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"

int event_choice_refuse(const struct profile *profile, const char *name, enum error_code code,
                        struct error *error)
{
    struct buffer names = {0};

    for (event_id id = 1; id <= profile_counts(profile).events; id++)
        buffer_format(&names, "%s%s", id > 1 ? ", " : "",
                      profile_text(profile, profile_get_event(profile, id)->name));
    error_set(error, code, "the recording has no event '%s'; it has: %.*s", name, (int)names.size,
              names.data);
    buffer_free(&names);
    return -1;
}

static void add(struct event_choice *choice, event_id id)
{
    if (choice->has[id])
        return;
    choice->has[id] = true;
    choice->count++;
    if (!choice->first || id < choice->first)
        choice->first = id;
}

/* Add each name of a list. `list` is overwritten. */
static int add_list(struct event_choice *choice, const struct profile *profile, char *list,
                    struct error *error)
{
    char *rest = NULL;

    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        event_id id = event_find(profile, name);

        if (!id)
            return event_choice_refuse(profile, name, ERROR_USAGE, error);
        add(choice, id);
    }
    return choice->count ? 0 : event_choice_refuse(profile, "", ERROR_USAGE, error);
}

int event_choice_make(struct event_choice *choice, const struct profile *profile, const char *names,
                      struct error *error)
{
    uint32_t events = profile_counts(profile).events;
    event_id whole = names ? event_find(profile, names) : 0;
    char *list;
    int result;

    *choice = (struct event_choice){.count = events, .first = events ? 1 : 0};
    if (!names)
        return 0;
    *choice = (struct event_choice){.has = xcalloc(events + 1, sizeof(*choice->has))};
    if (whole) { /* names of events that perf recorded can have commas */
        add(choice, whole);
        return 0;
    }
    list = xstrdup(names);
    result = add_list(choice, profile, list, error);
    free(list);
    return result;
}

void event_choice_free(struct event_choice *choice)
{
    free(choice->has);
    *choice = (struct event_choice){0};
}
