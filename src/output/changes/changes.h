// SPDX-License-Identifier: Apache-2.0
/* Functions and metrics that have changed: between two recordings, or since the sample before. */
#pragma once

#include "output/changes/comparison.h"
#include "output/rows.h"
#include "profile/profile.h"

/* ---- function_changes.c ---- */

/*
 * The weight of functions on each side of a comparison, and the change that chance explains.
 *
 * Samples vary by chance, as if each was taken independently. If windows vary more, their variance
 * counts (profile/row_interval.h). A side without samples of a function may have missed some (the
 * rule of three): as many as a Poisson distribution allows where none was seen, each with the usual
 * weight of that side.
 *
 * Sides are compared by weight or by share. By weight, the error of each side's total is an error
 * of its weights too. By share, the error of a total changes no share, but the second total is a
 * factor of the change.
 */

/* Sums over the samples of a stack or a function, on one side. */
struct function_sums {
    double weight;
    double size;    /* the same without signs */
    double squares; /* of the samples' weights, summed: the variance of `weight` */
    double shared;  /* the samples that it lacks, because two samples are of one hit */
    uint64_t samples;
};

/* All zero is empty. */
struct function_changes {
    struct function_sums (*stacks)[2]; /* by stack id of the samples */
    size_t room;
    double totals[2]; /* sums of absolute weights: release counts like growth */
    struct function_sums all[2];
    uint64_t samples[2];
    struct row_whole
        wholes[2]; /* of weights that are values of an event, by function_changes_note() */
    struct row_cells cells[2]; /* by stack id */
};

/* Add `samples` samples (at least 1) of a side and their total weight. A negative weight is a
 * release. */
void function_changes_add(struct function_changes *changes, int side, stack_id stack, double weight,
                          uint64_t samples);
/* Note the window of a sample whose weight is this value, before it is added. */
void function_changes_note(struct function_changes *changes, const struct profile *profile,
                           int side, const struct sample *sample, uint32_t value);
void function_changes_free(struct function_changes *changes);

/* A function: all frames of equal text and kind. Values of side 0 are scaled. */
struct function_change {
    const char *name;
    double self[2], total[2];
    double change; /* of what the list is for: of self, or of the total */
    double noise; /* limit of the change that chance explains, at 95 % confidence; infinite if it is
                   * unknown */
};

struct change_options {
    double scale; /* of side 0 */
    enum comparison_sort sort;
    bool by_share; /* `scale` makes the totals equal */
    struct row_cover covers[2];
    /* How many hits a sample stands for: of all hits of the time, and of the hits that were seen.
     * 0: unknown; each sample then has the mean weight of all samples. */
    double represents[2];
};

/* Return the functions that have changed, in this order. To be freed. `*ret_left_out` native
 * functions are not compared: they have no name but an offset in their file, and the file is not
 * known to be of the same build on both sides. */
struct function_change *function_changes_list(const struct function_changes *changes,
                                              const struct profile *profile,
                                              const struct change_options *options,
                                              size_t *ret_count, size_t *ret_left_out);

/* ---- metric_changes.c ---- */

/*
 * The change of a metric since the previous sample of the same process and event with a known value
 * of it. The first such sample has a change of 0.
 */

struct metric_changes;

struct metric_changes *metric_changes_new(const struct profile *profile, enum metric metric);
void metric_changes_free(struct metric_changes *changes);

/* Call for every sample, in order of time. *ret_sample is the sample with its `change`, and with
 * SAMPLE_GROWTH or SAMPLE_RELEASE if the metric has changed. */
void metric_changes_apply(struct metric_changes *changes, const struct sample *sample,
                          struct sample *ret_sample);
