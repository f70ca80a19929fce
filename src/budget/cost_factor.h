// SPDX-License-Identifier: Apache-2.0
/*
 * The factor between the true and the estimated cost of hits.
 *
 * The estimate of a hit is that of a trap in a short loop, plus the run time of the BPF program. In
 * the target, a hit also evicts caches and translations of the code around it. That costs nearly
 * nothing where hits follow each other, and as much as the hit itself in code with a large working
 * set. It shows in the work that the target does. Each interval has its CPU time, the work done in
 * it (in any unit that probes do not change) and the estimated cost of its hits. The least squares
 * of
 *
 *  work = speed * (CPU time - factor * cost)
 *
 * over intervals with many hits and with few give speed and factor. Until then, and where work is
 * not known, the factor is between those that were measured (docs/measurements.md).
 */
#pragma once

struct cost_factor {
    double intervals;       /* with weights: older intervals count less */
    double cpu, cost, work; /* sums */
    /* Sums of products, each divided by the CPU time of its interval, because the variance of work
     * grows with that time. */
    double cost_cost, work_cost, work_work;
};

/* Add an interval: the CPU time of the target and the estimated cost, in ns. An interval without
 * work is ignored. */
void cost_factor_add(struct cost_factor *factor, double cpu_ns, double work, double cost_ns);

/* The factor, between 1 and 10. */
double cost_factor_get(const struct cost_factor *factor);
