// SPDX-License-Identifier: Apache-2.0
/* Who sends to whom, and who wakes whom, as tables of the summary. */
#pragma once

#include <stdio.h>

#include "output/traffic.h"

/* The edges with most of a value, in so many seconds; nothing if there are none. */
void traffic_table_write(FILE *file, struct traffic *traffic, uint32_t value, double seconds);
