// SPDX-License-Identifier: Apache-2.0
#include "session/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam/process_top.h"

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

int top_option_parse(char *text, struct top_option *top, struct error *error)
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
