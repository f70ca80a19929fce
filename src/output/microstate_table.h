// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "profile/microstates.h"

/* Write for people what the threads did, in percent of the time: a line for each scheduler (for the
 * busiest, where there are many), one for all threads of each other type. Nothing for no rows. */
void microstate_table_write(FILE *file, const struct profile *profile,
                            const struct microstate_row *rows, size_t count);
