// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <time.h>

#include "capture/governor_internal.h"
#include "util/average.h"
#include "util/clock.h"

/* How far back rates are averaged, in ns of open time. */
static const double RATE_MEMORY = 50e6;

struct probe_counts group_counts(const struct group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    struct probe_counts counts;

    callbacks->counts(callbacks->context, group->number, &counts);
    return counts;
}

/* Update the average run time of the group's programs since the last call. Other groups can have a
 * part in it, which is assumed to be alike. */
static void update_program_ns(struct group *group)
{
    struct run_time now = run_time_of(group->sites, group->count);

    if (now.runs > group->run_time.runs)
        group->program_ns =
            (double)(now.ns - group->run_time.ns) / (double)(now.runs - group->run_time.runs);
    group->run_time = now;
}

double group_take_cost(struct group *group, const struct probe_counts *counts)
{
    struct governor *governor = group->governor;
    uint64_t runs = counts->runs - group->charged.runs;
    double estimated;

    if (runs > 0 && governor->stats_fd >= 0)
        update_program_ns(group);
    group->charged = *counts;
    estimated = (double)runs * (group->trap_ns + group->program_ns);
    governor->cost += estimated;
    return estimated * cost_factor_get(&governor->cost_factor);
}

/* Set the period of samples so that they stay within their part of the budget. */
static void set_period(struct group *group)
{
    const struct governor_options *options = &group->governor->options;
    double stacks = budget_stacks(group->governor->budget, group->number, options->stack_ns);
    double period;

    stacks = fmin(stacks, options->stacks_per_second);
    period = stacks > 0 ? fmax(group->size_per_second / stacks, 1) : (double)GROUP_FIRST_PERIOD;
    if (fabs(period - (double)group->period) < 0.1 * (double)group->period)
        return;
    group->period = (uint64_t)period;
    options->callbacks.period(options->callbacks.context, group->number, group->period);
}

void group_charge(struct group *group, uint64_t now, const struct probe_counts *counts)
{
    double time = (double)(now - group->charged_time);
    double runs = (double)(counts->runs - group->charged.runs);
    double size = (double)(counts->size - group->charged.size);

    if (now <= group->charged_time)
        return;
    group->runs_per_second =
        moved_average(group->runs_per_second, runs / time * 1e9, time, RATE_MEMORY);
    group->size_per_second =
        moved_average(group->size_per_second, size / time * 1e9, time, RATE_MEMORY);
    group->charged_time = now;
    budget_spend(group->governor->budget, group->number, now, group_take_cost(group, counts));
    set_period(group);
}

bool governor_read_target_cpu(struct governor *governor)
{
    struct timespec time;

    if (clock_gettime(governor->target_clock, &time) != 0)
        return false;
    governor->target_cpu = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return true;
}

void governor_observe(struct governor *governor)
{
    const struct governor_callbacks *callbacks = &governor->options.callbacks;
    struct effort now, *last = &governor->observed;

    for (unsigned i = 0; i < governor->group_count; i++) {
        struct group *group = governor->groups[i];

        if (group->open) {
            struct probe_counts counts = group_counts(group);

            group_charge(group, clock_ns(CLOCK_MONOTONIC), &counts);
        }
    }
    if (!governor_read_target_cpu(governor))
        return;
    now =
        (struct effort){governor->target_cpu, callbacks->work(callbacks->context), governor->cost};
    if (last->work && now.work > last->work)
        cost_factor_add(&governor->cost_factor, (double)(now.cpu - last->cpu),
                        (double)(now.work - last->work), now.cost - last->cost);
    *last = now;
}
