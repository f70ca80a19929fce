// SPDX-License-Identifier: Apache-2.0
/* Numbers as users write them. Each function returns false if the text is no such number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A decimal number from `low` to `high`. */
bool quantity_whole(const char *text, long low, long high, long *ret_value);

/* A finite number. */
bool quantity_real(const char *text, double *ret_value);

/* More than 0: "20000", "100k", "20M", "1G". */
bool quantity_bytes(const char *text, uint64_t *ret_value);

/* More than 0, in seconds, or with a unit: "0.5", "2s", "50ms", "300us". The value is in ns. */
bool quantity_time(const char *text, uint64_t *ret_ns);
