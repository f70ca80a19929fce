// SPDX-License-Identifier: Apache-2.0
#include "cli/option.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int option_set_true(void *flag, char *argument, struct error *error)
{
    (void)argument;
    (void)error;
    *(bool *)flag = true;
    return 0;
}

int option_set_text(void *text, char *argument, struct error *error)
{
    (void)error;
    *(const char **)text = argument;
    return 0;
}

int option_set_pid(void *pid, char *argument, struct error *error)
{
    return option_pid(argument, pid, error);
}

bool option_walk_next(struct option_walk *walk)
{
    if (!walk->group)
        return false;
    if (walk->option)
        walk->option++;
    else
        walk->option = walk->group->options;
    while (!walk->option->name) {
        walk->group++;
        if (!walk->group->title)
            return false;
        walk->option = walk->group->options;
    }
    return true;
}

enum { PID_MOST = 4194304 }; /* PID_MAX_LIMIT, linux/threads.h */

static const double SECONDS_MOST = 1e9;

int option_number(const char *what, const char *text, long low, long high, long *ret_value,
                  struct error *error)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return error_set(error, ERROR_USAGE, "%s must be a whole number from %ld to %ld, not '%s'",
                         what, low, high, text);
    *ret_value = value;
    return 0;
}

int option_pid(const char *text, pid_t *ret_pid, struct error *error)
{
    long value = 0;

    if (option_number("a process id", text, 1, PID_MOST, &value, error))
        return -1;
    *ret_pid = (pid_t)value;
    return 0;
}

static bool read_double(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

int option_seconds(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!read_double(text, &value) || value <= 0 || value > SECONDS_MOST)
        return error_set(error, ERROR_USAGE, "%s must be a positive number of seconds, not '%s'",
                         what, text);
    *ret_value = value;
    return 0;
}

int option_seconds_or_0(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!read_double(text, &value) || value < 0 || value > SECONDS_MOST)
        return error_set(error, ERROR_USAGE, "%s must be a number of seconds, not '%s'", what,
                         text);
    *ret_value = value;
    return 0;
}

int option_percent(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!read_double(text, &value) || value <= 0 || value > 100)
        return error_set(error, ERROR_USAGE,
                         "%s must be a percentage above 0, at most 100, not '%s'", what, text);
    *ret_value = value;
    return 0;
}

int option_bytes(const char *what, const char *text, uint64_t *ret_value, struct error *error)
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
        return error_set(error, ERROR_USAGE,
                         "%s must be a number of bytes, such as 20000, 100k, 20M or 1G, not '%s'",
                         what, text);
    *ret_value = (uint64_t)value << shift;
    return 0;
}
