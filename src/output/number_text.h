// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "profile/profile.h"

struct number_text {
    char text[40];
};

/* "1,234,567", for people. */
struct number_text number_text(uint64_t number);

/* "12.3 ms", "1.5 MB", "1,234 words", "1,234 times", for people. */
struct number_text amount_text(uint64_t amount, enum unit unit);

/* Events per second: "1,234", or "12.3" below 100; "0.0" if `seconds` is 0. */
struct number_text rate_text(uint64_t count, double seconds);

/* 100 * part / whole; 0 if `whole` is 0. */
double percent_of(uint64_t part, uint64_t whole);
