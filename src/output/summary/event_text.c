// SPDX-License-Identifier: Apache-2.0
#include "output/summary/event_text.h"

/* 95 % of a normal distribution is within so many standard errors of its mean. */
#define ERRORS_OF_95_PERCENT 1.96

static bool is_unsure(const struct event_summary *summary)
{
    for (int i = 0; i < EVENT_VALUES; i++)
        if (summary->errors[i] == EVENT_ERROR_UNKNOWN)
            return true;
    return false;
}

void event_hits_text(const struct event_summary *summary, struct buffer *text)
{
    buffer_format(text, "%s hits, %.1f %% of the time covered", number_text(summary->hits).text,
                  percent_of(summary->covered_ns, summary->span_ns));
    if (summary->windows)
        buffer_format(text, " in %s window%s", number_text(summary->windows).text,
                      summary->windows > 1 ? "s" : "");
    if (is_unsure(summary))
        buffer_text(text, ", too few to estimate the error of totals");
    if (summary->target_cpu_ns)
        buffer_format(text, ", at %.2f %% of the VM's CPU time",
                      percent_of(summary->cost_ns, summary->target_cpu_ns));
    if (summary->lost)
        buffer_format(text, ", %s samples lost", number_text(summary->lost).text);
}

void event_sum_text(const struct event_summary *summary, uint32_t value, enum unit unit,
                    struct buffer *text)
{
    double error = (double)summary->errors[value] * ERRORS_OF_95_PERCENT;

    buffer_text(text, amount_text(summary->sums[value], unit).text);
    if (summary->errors[value] == EVENT_ERROR_UNKNOWN)
        buffer_text(text, " +- ?");
    else if (summary->errors[value])
        buffer_format(text, " +- %s",
                      amount_text(error < 1e18 ? (uint64_t)error : UINT64_MAX, unit).text);
}

void event_histogram_text(const struct event_histogram *named, struct buffer *text)
{
    const struct histogram *histogram = &named->histogram;

    buffer_text(text, amount_text(histogram_count(histogram), UNIT_COUNT).text);
    buffer_format(text, ", p50 %s",
                  amount_text(histogram_percentile(histogram, 50), named->unit).text);
    buffer_format(text, ", p99 %s",
                  amount_text(histogram_percentile(histogram, 99), named->unit).text);
    buffer_format(text, ", max %s", amount_text(histogram->max, named->unit).text);
}
