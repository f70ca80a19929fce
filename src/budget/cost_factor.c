// SPDX-License-Identifier: Apache-2.0
#include "budget/budget.h"

#include <math.h>

/* Measured: 1.0 where a node does little else than hit probes, 1.5 to 2 in a load of many
 * processes. */
static const double FIRST = 1.5;
static const double FIRST_ERROR = 0.5;
static const double MOST = 10;

/* The CPU time of the target, in ns, after which an interval weighs 1/e: loads change. */
static const double MEMORY = 60e9;

/* Intervals for the two unknowns, and some more to see how well they fit. */
static const double INTERVALS_MIN = 5;

static void forget(struct cost_factor *factor, double part)
{
    factor->intervals *= part;
    factor->cpu *= part;
    factor->cost *= part;
    factor->work *= part;
    factor->cost_cost *= part;
    factor->work_cost *= part;
    factor->work_work *= part;
}

void cost_factor_add(struct cost_factor *factor, double cpu_ns, double work, double cost_ns)
{
    if (!(cpu_ns > 0) || !(work > 0) || !(cost_ns >= 0))
        return;
    forget(factor, exp(-cpu_ns / MEMORY));
    factor->intervals++;
    factor->cpu += cpu_ns;
    factor->cost += cost_ns;
    factor->work += work;
    factor->cost_cost += cost_ns * cost_ns / cpu_ns;
    factor->work_cost += work * cost_ns / cpu_ns;
    factor->work_work += work * work / cpu_ns;
}

/* Weighted least squares. The result is averaged with the factor assumed at first, each weighted by
 * the inverse of its variance. */
double cost_factor_get(const struct cost_factor *factor)
{
    double known = 1 / (FIRST_ERROR * FIRST_ERROR), measured, speed, lost, variance;
    double spread = factor->cpu * factor->cost_cost - factor->cost * factor->cost;

    speed = (factor->work * factor->cost_cost - factor->cost * factor->work_cost) / spread;
    lost = (factor->cost * factor->work - factor->cpu * factor->work_cost) / spread;
    if (factor->intervals < INTERVALS_MIN || !(spread > 0) || !(speed > 0))
        return FIRST;
    variance = factor->work_work - speed * factor->work + lost * factor->work_cost;
    variance = fmax(variance, 0) / (factor->intervals - 2);
    measured = speed * speed * spread / (variance * factor->cpu);
    if (!isfinite(measured))
        return FIRST;
    return fmin(fmax((measured * lost / speed + known * FIRST) / (measured + known), 1), MOST);
}
