// SPDX-License-Identifier: Apache-2.0
/* Work on recordings in a child without rights: VMs control the texts in them. */
#pragma once

#include <stddef.h>

#include "util/error.h"

/* Run `work` in a child that has no descriptors but `inputs` and `out`. `out` is a file in memory,
 * which `work` writes. Return a descriptor that reads that file, or -1 with the error of `work`.
 * Other threads may run. */
int unprivileged_make(int (*work)(void *context, int out, struct error *error), void *context,
                      const int *inputs, size_t count, struct error *error);
