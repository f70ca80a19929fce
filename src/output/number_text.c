// SPDX-License-Identifier: Apache-2.0
#include "output/number_text.h"
#include "util/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct number_text number_text(uint64_t number)
{
    struct number_text result = {{0}};
    char *at = result.text + sizeof(result.text) - 1;
    int digits = 0;

    do {
        if (digits && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
        digits++;
    } while (number /= 10);
    memmove(result.text, at, strlen(at) + 1);
    return result;
}

/* Units of which each is 1,000 of the one before. */
struct unit_names {
    const char *const *of;
    int count;
};

/* Without names for units that have only one. */
static struct unit_names names_of(enum unit unit)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const sizes[] = {"B", "kB", "MB", "GB", "TB"};

    if (unit == UNIT_NS)
        return (struct unit_names){times, 4};
    if (unit == UNIT_BYTES)
        return (struct unit_names){sizes, 5};
    return (struct unit_names){NULL, 0};
}

/* Divide the amount to the largest unit in which it is at least 1. Return the index of that unit.
 */
static int scale_down(double *amount, const struct unit_names *names)
{
    int i = 0;

    for (; i < names->count - 1 && *amount >= 999.95; i++)
        *amount /= 1000;
    return i;
}

/* The smallest unit has no decimals. Few seconds have two, because tables have them beside
 * milliseconds: 1.6 s would be any time from 1,550 to 1,650 ms. */
static int decimals_of(double scaled, int i, const struct unit_names *names)
{
    bool is_few_seconds = names->of[i][0] == 's' && scaled < 9.995;

    return i == 0 ? 0 : is_few_seconds ? 2 : 1;
}

static struct number_text scaled_text(uint64_t amount, const struct unit_names *names)
{
    struct number_text result;
    double scaled = (double)amount;
    int i = scale_down(&scaled, names);

    snprintf(result.text, sizeof(result.text), "%.*f %s", decimals_of(scaled, i, names), scaled,
             names->of[i]);
    return result;
}

struct number_text number_text_amount(uint64_t amount, enum unit unit)
{
    const struct unit_names names = names_of(unit);
    struct number_text result = number_text(amount);

    if (names.count)
        return scaled_text(amount, &names);
    strcat(result.text, unit == UNIT_WORDS ? " word" : " time");
    if (amount != 1)
        strcat(result.text, "s");
    return result;
}

/* The larger number chooses the unit. The smallest unit has no decimals. */
static struct estimate_text scaled_estimate(uint64_t amount, double half,
                                            const struct unit_names *names)
{
    double larger = fmax((double)amount, half), step;
    int i = scale_down(&larger, names), decimals;
    struct estimate_text text;
    double divisor = pow(1000, i);

    half /= divisor;
    decimals = 1 - (int)floor(log10(half));
    decimals = decimals < 0 ? 0 : decimals > 3 * i ? 3 * i : decimals;
    step = pow(10, -decimals);
    snprintf(text.amount.text, sizeof(text.amount.text), "%.*f %s", decimals,
             (double)amount / divisor, names->of[i]);
    /* A half that has two digits is not rounded up to the next by its binary form. */
    snprintf(text.half.text, sizeof(text.half.text), "+- %.*f %s", decimals,
             ceil(half / step - 1e-6) * step, names->of[i]);
    return text;
}

struct estimate_text number_text_estimate(uint64_t amount, double half, enum unit unit)
{
    const struct unit_names names = names_of(unit);
    struct estimate_text text = {number_text_amount(amount, unit), {"+- ?"}};

    if (isnan(half))
        return text;
    if (half > 0 && names.count)
        return scaled_estimate(amount, half, &names);
    text.half.text[0] = '\0';
    if (half > 0)
        snprintf(text.half.text, sizeof(text.half.text), "+- %.36s",
                 number_text(whole_part(ceil(half))).text);
    return text;
}

struct number_text number_text_rate(uint64_t count, double seconds)
{
    double rate = seconds > 0 ? (double)count / seconds : 0;
    struct number_text result;

    if (rate >= 99.95)
        return number_text(whole_part(rate + 0.5));
    snprintf(result.text, sizeof(result.text), "%.1f", rate);
    return result;
}

double number_text_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
