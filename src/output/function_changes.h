// SPDX-License-Identifier: Apache-2.0
/* How much functions count on each side of a comparison. */
#pragma once

#include "output/comparison.h"
#include "profile/profile.h"

/* Of samples that are alike, on one side. */
struct function_sums {
    double weight;
    double squares; /* of the weights of samples, which is the variance of the sum */
    uint64_t samples;
};

/* All zero is nothing. */
struct function_changes {
    struct function_sums (*stacks)[2]; /* by stack id, of samples whose stack it is */
    size_t room;
    double totals[2]; /* of what counts, release like growth */
    uint64_t samples[2];
};

/* So many samples of a side (at least one), and their weight; one below 0 is a release. */
void function_changes_add(struct function_changes *changes, int side, stack_id stack, double weight,
                          uint64_t samples);
void function_changes_free(struct function_changes *changes);

/* A function, which is what frames of equal text and kind are of. Side 0 is scaled. */
struct function_change {
    const char *name;
    double self[2], total[2];
    double change; /* of the total */
    double noise;  /* that the change stays within at 95 of 100 comparisons of what is alike */
};

/* Those whose total has changed, most first; to be freed. */
struct function_change *function_changes_list(const struct function_changes *changes,
                                              const struct profile *profile, double scale,
                                              size_t *ret_count);
