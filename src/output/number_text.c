// SPDX-License-Identifier: Apache-2.0
#include "output/number_text.h"
#include "util/number.h"

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

/* The amount in the largest unit in which it is at least 1, with one decimal unless that is the
 * smallest unit. */
static struct number_text scaled_text(uint64_t amount, const char *const *names, int count)
{
    struct number_text result;
    double scaled = (double)amount;
    int i = 0;

    for (; i < count - 1 && scaled >= 999.95; i++)
        scaled /= 1000;
    snprintf(result.text, sizeof(result.text), i ? "%.1f %s" : "%.0f %s", scaled, names[i]);
    return result;
}

struct number_text amount_text(uint64_t amount, enum unit unit)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const sizes[] = {"B", "kB", "MB", "GB", "TB"};
    struct number_text result = number_text(amount);

    if (unit == UNIT_NS)
        return scaled_text(amount, times, 4);
    if (unit == UNIT_BYTES)
        return scaled_text(amount, sizes, 5);
    strcat(result.text, unit == UNIT_WORDS ? " word" : " time");
    if (amount != 1)
        strcat(result.text, "s");
    return result;
}

struct number_text rate_text(uint64_t count, double seconds)
{
    double rate = seconds > 0 ? (double)count / seconds : 0;
    struct number_text result;

    if (rate >= 99.95)
        return number_text(whole_part(rate + 0.5));
    snprintf(result.text, sizeof(result.text), "%.1f", rate);
    return result;
}

double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
