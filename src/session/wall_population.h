// SPDX-License-Identifier: Apache-2.0
/*
 * How many processes sweeps have read, of how many. A sweep that reads some processes is a sample
 * without replacement: what it has read stands for all processes that there were at its moment.
 */
#pragma once

#include <stdint.h>

/* Of several sweeps. All zero is empty. */
struct wall_population {
    uint64_t read, all; /* processes, added up over sweeps */
    uint64_t last;      /* number of processes at the last sweep; 0: there was none */
    double squares;     /* variance of the time of all processes, ns squared */
};

/* Return the ns that each process stands for that a sweep has read (at least 1), if the sweep
 * stands for `time` of all `processes`. */
uint64_t wall_population_weight(uint64_t time, uint64_t read, uint64_t processes);

/* Add a sweep that stands for `time`. */
void wall_population_add(struct wall_population *population, uint64_t read, uint64_t processes,
                         uint64_t time);

/* Return the share of the processes that the sweeps have read; 1 if there was no sweep. */
double wall_population_read(const struct wall_population *population);

/* Return the standard error of the time of all processes, in ns. It is 0 if their number has not
 * changed. */
double wall_population_error(const struct wall_population *population);
