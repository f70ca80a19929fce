// SPDX-License-Identifier: Apache-2.0
#include "output/changes/comparison.h"

#include <string.h>

static const char *const names[] = {
    [PER_TIME] = "time",
    [PER_TOTAL] = "total",
    [PER_NONE] = "none",
};
enum { PERS = sizeof(names) / sizeof(names[0]) };

const char *comparison_per_name(enum comparison_per per)
{
    return names[per];
}

int comparison_per_parse(const char *name, enum comparison_per *per, struct error *error)
{
    for (int i = 0; i < PERS; i++)
        if (!strcmp(names[i], name)) {
            *per = (enum comparison_per)i;
            return 0;
        }
    return error_set(error, ERROR_USAGE,
                     "can't normalize by '%s'; choose one of: time, total, none", name);
}

uint64_t recording_ms(const struct recording_header *header, const struct recording_totals *totals)
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
