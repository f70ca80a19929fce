// SPDX-License-Identifier: Apache-2.0
/* The descriptors of this process, and the limit on them. Sampling needs two on each CPU, events
 * some on each hook. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Open /dev/null in place of standard input, output and error that are closed: the next file that
 * is opened would take their place, and get what is printed. Reading and writing still fail, as for
 * closed ones. */
void descriptors_fill_standard(void);

/* Raise the limit as far as this process may: to the hard limit. */
void descriptors_raise(void);

/* Check that some more descriptors can be opened. Call it before a library that reports their lack
 * as another error. Return 0, or -1 with error. */
int descriptors_check(struct error *error);

/* Close all descriptors but these. Sorts `kept`. */
void descriptors_keep_only(int *kept, size_t count);

/* If `code`, an errno, says that there can be no more descriptors, set the error to which limit was
 * reached, and what to do. Return false for any other code, which leaves the error as it is. */
bool descriptors_ran_out(int code, struct error *error);
