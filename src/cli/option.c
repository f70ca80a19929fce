// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <stdbool.h>
#include <sys/types.h>

#include "util/quantity.h"

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
    long value;

    if (!quantity_whole(text, low, high, &value))
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

int option_seconds(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!quantity_real(text, &value) || value <= 0 || value > SECONDS_MOST)
        return error_set(error, ERROR_USAGE, "%s must be a positive number of seconds, not '%s'",
                         what, text);
    *ret_value = value;
    return 0;
}

int option_seconds_or_0(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!quantity_real(text, &value) || value < 0 || value > SECONDS_MOST)
        return error_set(error, ERROR_USAGE, "%s must be a number of seconds, not '%s'", what,
                         text);
    *ret_value = value;
    return 0;
}

int option_percent(const char *what, const char *text, double *ret_value, struct error *error)
{
    double value;

    if (!quantity_real(text, &value) || value <= 0 || value > 100)
        return error_set(error, ERROR_USAGE,
                         "%s must be a percentage above 0, at most 100, not '%s'", what, text);
    *ret_value = value;
    return 0;
}

int option_bytes(const char *what, const char *text, uint64_t *ret_value, struct error *error)
{
    uint64_t value;

    if (!quantity_bytes(text, &value))
        return error_set(error, ERROR_USAGE,
                         "%s must be a number of bytes, such as 20000, 100k, 20M or 1G, not '%s'",
                         what, text);
    *ret_value = value;
    return 0;
}
