// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_text.h"

#include <math.h>

#include "output/number_text.h"
#include "profile/events.h"

static const double CLOSE = 0.02;

double cpu_account_ratio(const struct recording_totals *totals)
{
    return totals->cpu_accounted_ns
               ? (double)totals->cpu_sampled_ns / (double)totals->cpu_accounted_ns
               : 0;
}

/* If ticks are independent of a thread's sleeps, the number of its samples varies at most like a
 * Poisson process. Allow two standard errors. */
static bool chance_explains(const struct recording_totals *totals, double ratio)
{
    return totals->cpu_samples && fabs(ratio - 1) <= 2 / sqrt((double)totals->cpu_samples);
}

static const char *reason(const struct recording_header *header,
                          const struct recording_totals *totals, double ratio)
{
    if (totals->losses[LOSS_CLOCK_STOPPED])
        return "the clock was stopped early";
    if (totals->losses[LOSS_RING_FULL])
        return "samples were lost";
    if (chance_explains(totals, ratio))
        return "with this number of samples, chance explains it";
    if (!event_clock_is_timer(header->event))
        return "the rate of this event varies";
    return ratio < 1 ? "the kernel switched threads, or the hypervisor took CPUs away, when ticks "
                       "were due"
                     : "the reason is not known";
}

bool cpu_account_text(const struct recording_header *header, const struct recording_totals *totals,
                      struct buffer *text)
{
    double ratio = cpu_account_ratio(totals);

    if (!totals->cpu_accounted_ns || fabs(ratio - 1) <= CLOSE)
        return false;
    buffer_format(text,
                  "%s saw %.3f of the %s CPU time that the kernel accounts; samples are "
                  "scaled to the account (%s)",
                  header->event, ratio, number_text_amount(totals->cpu_accounted_ns, UNIT_NS).text,
                  reason(header, totals, ratio));
    return true;
}
