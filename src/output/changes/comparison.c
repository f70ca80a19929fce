// SPDX-License-Identifier: Apache-2.0
#include "output/changes/comparison.h"

#include <string.h>

#include "profile/events.h"

enum { NAMES = 3 };

static const char *const per_names[NAMES] = {
    [PER_TIME] = "time",
    [PER_TOTAL] = "total",
    [PER_NONE] = "none",
};
static const char *const sort_names[NAMES] = {
    [SORT_CHANGE] = "change",
    [SORT_SELF] = "self",
    [SORT_TOTAL] = "total",
};

const char *comparison_per_name(enum comparison_per per)
{
    return per_names[per];
}

/* The index of a name; NAMES if there is none. */
static int find(const char *const names[NAMES], const char *name)
{
    int i = 0;

    while (i < NAMES && strcmp(names[i], name) != 0)
        i++;
    return i;
}

int comparison_per_parse(const char *name, enum comparison_per *per, struct error *error)
{
    int found = find(per_names, name);

    if (found == NAMES)
        return error_set(error, ERROR_USAGE,
                         "can't normalize by '%s'; choose one of: time, total, none", name);
    *per = (enum comparison_per)found;
    return 0;
}

int comparison_sort_parse(const char *name, enum comparison_sort *sort, struct error *error)
{
    int found = find(sort_names, name);

    if (found == NAMES)
        return error_set(error, ERROR_USAGE,
                         "can't sort by '%s'; choose one of: change, self, total", name);
    *sort = (enum comparison_sort)found;
    return 0;
}

bool comparison_side_has(const struct comparison_side *side, const char *event)
{
    return side->profile && event_find(side->profile, event);
}

const struct event_summary *comparison_summary(const struct comparison_side *side,
                                               const char *event)
{
    return side->recording
               ? recording_get_summary(side->recording, event_find(side->profile, event))
               : NULL;
}

uint64_t comparison_recording_ms(const struct recording_header *header,
                                 const struct recording_totals *totals)
{
    uint64_t start = header->start_monotonic, end = totals->end_monotonic;

    return end > start ? (end - start + 999999) / 1000000 : 0;
}

int comparison_side_of(const struct comparison *comparison, uint64_t start,
                       const struct sample *sample)
{
    return sample->time > start && (sample->time - start) / 1000000 >= comparison->sides[1].from_ms;
}

double comparison_scale(const struct comparison *comparison, const double totals[2])
{
    const struct comparison_side *sides = comparison->sides;
    double first = totals[0], second = totals[1];

    if (comparison->per == PER_NONE)
        return 1;
    if (comparison->per == PER_TIME) {
        first = (double)(sides[0].to_ms - sides[0].from_ms);
        second = (double)(sides[1].to_ms - sides[1].from_ms);
    }
    return first > 0 && second > 0 ? second / first : 1;
}
