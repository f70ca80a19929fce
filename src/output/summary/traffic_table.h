// SPDX-License-Identifier: Apache-2.0
/* Traffic as a table of the summary: who sends to whom, or who wakes whom. */
#pragma once

#include <stdio.h>

#include "output/traffic.h"

/* Write the edges with the most of the value with index `value`; nothing if there are none.
 * `seconds` is the duration, for rates. */
void traffic_table_write(FILE *file, struct traffic *traffic, uint32_t value, double seconds);
