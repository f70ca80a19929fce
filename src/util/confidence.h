// SPDX-License-Identifier: Apache-2.0
/* 95 % confidence intervals, from how many things were seen. */
#pragma once

/* 95 % of a normal distribution is within so many standard errors of its mean. */
#define NORMAL_95_PERCENT 1.96

/* The number of standard errors on each side of a 95 % interval, if the standard error is estimated
 * from `n` windows, at least 2: Student's t. */
double confidence_errors(double n);

/* The mean of a count may lie so far above the count that was seen, in 95 of 100 cases; it lies
 * less far below. `count` need not be whole. */
double confidence_poisson_half(double count);
