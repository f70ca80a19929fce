// SPDX-License-Identifier: Apache-2.0
/*
 * How many times what hits of probes are reckoned to cost they do cost the target.
 *
 * A hit is reckoned at a trap in a short loop and the run time of the BPF program. In the target it
 * also takes caches and translations from the code around it, which costs nearly nothing where a
 * hit follows upon another, and as much as the hit itself in code with a large working set. That
 * shows in what the target gets done: of each interval are known its CPU time, the work that was
 * done in it (in any measure that probes leave alone) and the reckoned cost of its hits, so the
 * least squares of
 *
 *   work = speed * (CPU time - factor * cost)
 *
 * over intervals with many hits and with few tell both. Until they tell something, and where work
 * is not known, the factor is one between those that were measured (docs/measurements.md).
 */
#pragma once

struct cost_factor {
    double intervals;       /* as far as they are not forgotten */
    double cpu, cost, work; /* sums */
    /* Sums of products, each divided by the interval's CPU time: so grows the variance of work. */
    double cost_cost, work_cost, work_work;
};

/* An interval: CPU time of the target and reckoned cost in ns. One without work tells nothing. */
void cost_factor_add(struct cost_factor *factor, double cpu_ns, double work, double cost_ns);

/* At least 1. */
double cost_factor_get(const struct cost_factor *factor);
