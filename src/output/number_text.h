// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

struct number_text {
    char text[32];
};

/* "1,234,567", for people. */
struct number_text number_text(uint64_t number);

/* 100 * part / whole, 0 for nothing of nothing. */
double percent_of(uint64_t part, uint64_t whole);
