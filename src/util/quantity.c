// SPDX-License-Identifier: Apache-2.0
#include "util/quantity.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool quantity_whole(const char *text, long low, long high, long *ret_value)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return false;
    *ret_value = value;
    return true;
}

bool quantity_real(const char *text, double *ret_value)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

bool quantity_bytes(const char *text, uint64_t *ret_value)
{
    static const char units[] = "kMG";
    const char *unit;
    long long value;
    char *end;
    int shift;

    errno = 0;
    value = strtoll(text, &end, 10);
    unit = *end && !end[1] ? strchr(units, *end) : NULL;
    shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || end == text || (*end && !unit) || value <= 0 || value > LLONG_MAX >> shift)
        return false;
    *ret_value = (uint64_t)value << shift;
    return true;
}

bool quantity_time(const char *text, uint64_t *ret_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isfinite(value))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double ns = value * units[i].ns;

        if (strcmp(end, units[i].name) || ns < 1 || ns >= 1e18)
            continue;
        *ret_ns = (uint64_t)ns;
        return true;
    }
    return false;
}
