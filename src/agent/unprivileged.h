// SPDX-License-Identifier: Apache-2.0
/* Work on recordings in a child without rights: their texts are those of the VMs. */
#pragma once

#include <stddef.h>

#include "util/error.h"

/* Run `work` in a child, which can use only the descriptors of `inputs`, and `out`, a file in
 * memory that it writes. Return a descriptor that reads that file, or -1 with the error of `work`.
 * Other threads may run. */
int unprivileged_make(int (*work)(void *context, int out, struct error *error), void *context,
                      const int *inputs, size_t count, struct error *error);
