// SPDX-License-Identifier: Apache-2.0
#include "session/wall.h"

#include <math.h>

#include "util/number.h"

uint64_t wall_population_weight(uint64_t time, uint64_t read, uint64_t processes)
{
    return whole_part((double)time * (double)processes / (double)read + 0.5);
}

/* The number of processes between two sweeps is not known. Its variance is half of the squared
 * difference of two neighbours (Wolter, Introduction to Variance Estimation, chapter 8). */
void wall_population_add(struct wall_population *population, uint64_t read, uint64_t processes,
                         uint64_t time)
{
    double change = (double)processes - (double)population->last;

    if (population->last)
        population->squares += change * change * (double)time * (double)time / 2;
    population->last = processes;
    population->read += read;
    population->all += processes;
}

double wall_population_read(const struct wall_population *population)
{
    return population->all ? fmin((double)population->read / (double)population->all, 1) : 1;
}

double wall_population_error(const struct wall_population *population)
{
    return sqrt(population->squares);
}
