// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "profile/microstates.h"

/* Write a table for people: the microstates of threads in percent of the time. Each scheduler has a
 * line; of many schedulers only the busiest have one, the others share one. The threads of each
 * other type share a line. Rows of the same VM and type must be neighbours. Write nothing if there
 * are no rows. */
void microstate_table_write(FILE *file, const struct profile *profile,
                            const struct microstate_row *rows, size_t count);
