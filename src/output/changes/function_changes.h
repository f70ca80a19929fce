// SPDX-License-Identifier: Apache-2.0
/* The weight of functions on each side of a comparison. */
#pragma once

#include "output/changes/comparison.h"
#include "profile/profile.h"

/* Sums over the samples of a stack or a function, on one side. */
struct function_sums {
    double weight;
    double squares; /* of the samples' weights, summed: the variance of `weight` */
    uint64_t samples;
};

/* All zero is empty. */
struct function_changes {
    struct function_sums (*stacks)[2]; /* by stack id of the samples */
    size_t room;
    double totals[2]; /* sums of absolute weights: release counts like growth */
    uint64_t samples[2];
};

/* Add `samples` samples (at least 1) of a side and their total weight. A negative weight is a
 * release. */
void function_changes_add(struct function_changes *changes, int side, stack_id stack, double weight,
                          uint64_t samples);
void function_changes_free(struct function_changes *changes);

/* A function: all frames of equal text and kind. Values of side 0 are scaled. */
struct function_change {
    const char *name;
    double self[2], total[2];
    double change; /* of what the list is for: of self, or of the total */
    double noise;  /* limit of the change that chance explains, at 95 % confidence */
};

/* Return the functions that have changed, in this order. To be freed. */
struct function_change *function_changes_list(const struct function_changes *changes,
                                              const struct profile *profile, double scale,
                                              enum comparison_sort sort, size_t *ret_count);
