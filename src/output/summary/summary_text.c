// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_text.h"

#include <math.h>

#include "profile/events.h"
#include "util/number.h"
#include "util/utf8.h"

void summary_text_of_target(const struct profile *profile, target_id id, struct buffer *text)
{
    const struct target_entry *target = profile_get_target(profile, id);

    if (target->node)
        buffer_format(text, "%s, ", profile_text(profile, target->node));
    buffer_format(text, "pid %u", target->pid);
    if (target->otp_release)
        buffer_format(text, ", OTP %s", profile_text(profile, target->otp_release));
    if (target->erts)
        buffer_format(text, ", erts %s", profile_text(profile, target->erts));
    if (target->flavor)
        buffer_format(text, ", %s", profile_text(profile, target->flavor));
    if (target->host)
        buffer_format(text, ", host %s", profile_text(profile, target->host));
    if (target->container)
        buffer_format(text, ", container %s", profile_text(profile, target->container));
}

void summary_text_of_life(const struct target_life *life, uint64_t start, struct buffer *text)
{
    if (life->stopped_ns)
        buffer_format(text, ", stopped for %.1f s", (double)life->stopped_ns / 1e9);
    if (life->ended)
        buffer_format(text, ", ended after %.1f s",
                      life->ended > start ? (double)(life->ended - start) / 1e9 : 0);
}

void summary_text_of_process(const struct profile *profile, process_id id, struct buffer *text)
{
    const struct process_entry *process = profile_get_process(profile, id);
    string_id name = process->name    ? process->name
                     : process->label ? process->label
                                      : process->initial_call;

    buffer_text(text, profile_text(profile, process->pid));
    if (!name)
        return;
    buffer_byte(text, ' ');
    buffer_put(text, profile_text(profile, name), utf8_fit(profile_text(profile, name), 90));
}

/* A sweep reads all processes or some of them. The covered share is a share of the processes'
 * time. */
static void sweeps_text(const struct event_summary *summary, struct buffer *text)
{
    double read = (double)summary->hits / (double)summary->windows, all = read;

    if (summary->covered_ns)
        all *= (double)summary->span_ns / (double)summary->covered_ns;
    buffer_format(text, "%s sweep%s, each read %s of %s processes on average (%.1f %%)",
                  number_text(summary->windows).text, summary->windows == 1 ? "" : "s",
                  number_text(whole_part(read + 0.5)).text, number_text(whole_part(all + 0.5)).text,
                  number_text_percent(summary->covered_ns, summary->span_ns));
}

void summary_text_of_hits(const struct profile *profile, const struct event_summary *summary,
                          struct buffer *text)
{
    if (event_is_wall(profile, summary->event) && summary->windows) {
        sweeps_text(summary, text);
        return;
    }
    buffer_format(text, "%s hits, %.1f %% of the time covered", number_text(summary->hits).text,
                  number_text_percent(summary->covered_ns, summary->span_ns));
    if (summary->windows)
        buffer_format(text, " in %s window%s", number_text(summary->windows).text,
                      summary->windows > 1 ? "s" : "");
    if (summary->target_cpu_ns)
        buffer_format(text, ", at %.2f %% of the VM's CPU time",
                      number_text_percent(summary->cost_ns, summary->target_cpu_ns));
    if (summary->lost)
        buffer_format(text, ", %s samples lost", number_text(summary->lost).text);
}

void summary_text_of_sum(const struct event_summary *summary, uint32_t value, enum unit unit,
                         struct buffer *text)
{
    const struct estimate_text estimate =
        number_text_estimate(summary->sums[value], event_summary_half(summary, value), unit);
    uint64_t unseen = event_summary_unseen_at_most(summary);

    buffer_text(text, estimate.amount.text);
    if (!summary->sums[value] && unseen && unseen != UINT64_MAX)
        buffer_format(text, ", at most %s hits", number_text(unseen).text);
    else if (estimate.half.text[0])
        buffer_format(text, " %s", estimate.half.text);
    if (!event_summary_is_sure(summary, value))
        buffer_text(text, " (windows are too few or too short: raise --budget or record longer)");
}

void summary_text_of_count(uint64_t count, uint64_t seen, struct buffer *text)
{
    buffer_text(text, number_text_amount(count, UNIT_COUNT).text);
    if (seen != count)
        buffer_format(text, " (%s seen)", number_text(seen).text);
}

void summary_text_of_histogram(const struct event_histogram *named, struct buffer *text)
{
    const struct histogram *histogram = &named->histogram;

    summary_text_of_count(histogram_count(histogram), named->seen, text);
    buffer_format(text, ", p50 %s",
                  number_text_amount(histogram_percentile(histogram, 50), named->unit).text);
    buffer_format(text, ", p99 %s",
                  number_text_amount(histogram_percentile(histogram, 99), named->unit).text);
    buffer_format(text, ", max %s", number_text_amount(histogram->max, named->unit).text);
}
