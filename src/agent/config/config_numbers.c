// SPDX-License-Identifier: Apache-2.0
/* The types of values that are numbers. */
#include "agent/config/config_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantity.h"
#include "util/span.h"

/* Set the error that the value is not `what` ("a whole number") within the limits of its key. */
static int refused(const struct config_key *key, const char *what, const char *text,
                   struct error *error)
{
    struct buffer wanted = {0};

    buffer_format(&wanted, "%s from ", what);
    config_value_limits(key, &wanted);
    buffer_byte(&wanted, '\0');
    config_value_refuse(key, wanted.data, text, error);
    buffer_free(&wanted);
    return -1;
}

static bool is_within(const struct config_key *key, double value)
{
    return value >= key->least && value <= key->most;
}

/* True if the text has only digits and a point before its unit: no sign, no exponent, no blank. */
static bool is_plain_number(const char *text, const char *units)
{
    size_t size = strspn(text, "0123456789.");

    return is_digit(text[0]) && (!text[size] || (strchr(units, text[size]) && !text[size + 1]));
}

/* ---- counts ---- */

static int parse_count(const struct config_key *key, const char *text, void *target,
                       struct error *error)
{
    long value;

    if (!is_plain_number(text, "") || !quantity_whole(text, 0, INT32_MAX, &value) ||
        !is_within(key, (double)value))
        return refused(key, "a whole number", text, error);
    *(uint32_t *)target = (uint32_t)value;
    return 0;
}

static void print_count_limit(double limit, struct buffer *text)
{
    buffer_format(text, "%.0f", limit);
}

static void print_count(const void *target, struct buffer *text)
{
    buffer_format(text, "%" PRIu32, *(const uint32_t *)target);
}

const struct config_type config_count = {"whole number", false, parse_count, print_count,
                                         print_count_limit};

/* ---- percentages ---- */

static int parse_percent(const struct config_key *key, const char *text, void *target,
                         struct error *error)
{
    double value;

    if (!is_plain_number(text, "") || !quantity_real(text, &value) || !is_within(key, value))
        return refused(key, "a percentage", text, error);
    *(double *)target = value;
    return 0;
}

/* As few digits as are needed to read the same number again. */
static void print_real(double value, struct buffer *text)
{
    char digits[40];

    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value && !strchr(digits, 'e'))
            break;
    }
    buffer_text(text, digits);
}

static void print_percent(const void *target, struct buffer *text)
{
    print_real(*(const double *)target, text);
}

const struct config_type config_percent = {"percentage", false, parse_percent, print_percent,
                                           print_real};

/* ---- durations ---- */

static const struct {
    char name;
    double seconds;
} time_units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { TIME_UNITS = sizeof(time_units) / sizeof(*time_units) };

/* A number without a unit is of seconds. */
static bool read_duration(const char *text, double *ret_seconds)
{
    char digits[40];
    size_t size = strlen(text);
    double unit = 1;

    if (!is_plain_number(text, "smhd") || size >= sizeof(digits))
        return false;
    for (int i = 0; i < TIME_UNITS; i++)
        if (text[size - 1] == time_units[i].name) {
            unit = time_units[i].seconds;
            size--;
            break;
        }
    memcpy(digits, text, size);
    digits[size] = '\0';
    if (!quantity_real(digits, ret_seconds))
        return false;
    *ret_seconds *= unit;
    return true;
}

static int parse_duration(const struct config_key *key, const char *text, void *target,
                          struct error *error)
{
    double value;

    if (!read_duration(text, &value) || !is_within(key, value))
        return refused(key, "a time such as 15s, 10m, 1h or 7d,", text, error);
    *(double *)target = value;
    return 0;
}

/* In the largest unit of which it is a whole number, or in seconds. */
static void print_seconds(double seconds, struct buffer *text)
{
    int i = 0;

    while (i < TIME_UNITS - 1 && (seconds < time_units[i].seconds ||
                                  (uint64_t)seconds % (uint64_t)time_units[i].seconds ||
                                  (double)(uint64_t)seconds != seconds))
        i++;
    print_real(seconds / time_units[i].seconds, text);
    buffer_byte(text, time_units[i].name);
}

static void print_duration(const void *target, struct buffer *text)
{
    print_seconds(*(const double *)target, text);
}

const struct config_type config_duration = {"duration", false, parse_duration, print_duration,
                                            print_seconds};

/* ---- sizes ---- */

static int parse_size(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    uint64_t value;

    if (!is_plain_number(text, "kMG") || !quantity_bytes(text, &value) ||
        !is_within(key, (double)value))
        return refused(key, "a size such as 20M or 1G,", text, error);
    *(uint64_t *)target = value;
    return 0;
}

/* In the largest unit of which it is a whole number. */
static void print_bytes(uint64_t bytes, struct buffer *text)
{
    static const char units[] = "kMG";
    int unit = 0;

    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    buffer_format(text, "%" PRIu64, bytes);
    if (unit)
        buffer_byte(text, units[unit - 1]);
}

static void print_size_limit(double limit, struct buffer *text)
{
    print_bytes((uint64_t)limit, text);
}

static void print_size(const void *target, struct buffer *text)
{
    print_bytes(*(const uint64_t *)target, text);
}

const struct config_type config_size = {"size", false, parse_size, print_size, print_size_limit};
