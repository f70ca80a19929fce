// SPDX-License-Identifier: Apache-2.0
#include "cli/top_option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam/process_top.h"

static const char DEFAULT[] = "+reductions";
static const double SECONDS_MAX = 1e9;

/* Cut the text at its first colon; what is behind that, or NULL. */
static char *cut(char *text)
{
    char *colon = text ? strchr(text, ':') : NULL;

    if (colon)
        *colon++ = '\0';
    return colon;
}

static void parse_metric(struct argp_state *state, const char *text, struct top_option *top)
{
    top->by_growth = *text == '+';
    if (!metric_find(text + top->by_growth, &top->metric) || !process_top_ranks(top->metric))
        argp_error(state, "there is no --top by '%s'; there is by %s", text, TOP_METRICS);
}

void parse_top_option(struct argp_state *state, char *text, struct top_option *top)
{
    char *metric = cut(text), *seconds = cut(metric), *end;
    long count = strtol(text, &end, 10);

    if (end == text || *end || count < 1 || count > TOP_MAX)
        argp_error(state, "--top must be a whole number from 1 to %d, not '%s'", TOP_MAX, text);
    *top = (struct top_option){.count = (size_t)count};
    parse_metric(state, metric && *metric ? metric : DEFAULT, top);
    if (!seconds)
        return;
    top->seconds = strtod(seconds, &end);
    if (end == seconds || *end || !isfinite(top->seconds) || top->seconds <= 0 ||
        top->seconds > SECONDS_MAX)
        argp_error(state, "--top takes a positive number of seconds, not '%s'", seconds);
}
