// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "profile/profile.h"

struct number_text {
    char text[40];
};

/* "1,234,567", for people. */
struct number_text number_text(uint64_t number);

/* "12.3 ms", "1.21 s", "12.1 s", "1.5 MB", "1,234 words", "1,234 times", for people. */
struct number_text number_text_amount(uint64_t amount, enum unit unit);

/* An amount and half of its 95 % interval: {"1.214 s", "+- 0.030 s"}. Both have the same unit and
 * end at the second digit of the half, which is rounded up; numbers of times and words are whole,
 * so that rows add up: {"2,013 times", "+- 240"}. If the half is 0 the amount is exact, and the
 * text of the half is ""; if it is NAN it is unknown: "+- ?". */
struct estimate_text {
    struct number_text amount, half;
};
struct estimate_text number_text_estimate(uint64_t amount, double half, enum unit unit);

/* Events per second: "1,234", or "12.3" below 100; "0.0" if `seconds` is 0. */
struct number_text number_text_rate(uint64_t count, double seconds);

/* 100 * part / whole; 0 if `whole` is 0. */
double number_text_percent(uint64_t part, uint64_t whole);
