// SPDX-License-Identifier: Apache-2.0
/*
 * The change of a metric since the previous sample of the same process and event with a known value
 * of it. The first such sample has a change of 0.
 */
#pragma once

#include "profile/profile.h"

struct metric_changes;

struct metric_changes *metric_changes_new(const struct profile *profile, enum metric metric);
void metric_changes_free(struct metric_changes *changes);

/* Call for every sample, in order of time. *ret_sample is the sample with its `change`, and with
 * SAMPLE_GROWTH or SAMPLE_RELEASE if the metric has changed. */
void metric_changes_apply(struct metric_changes *changes, const struct sample *sample,
                          struct sample *ret_sample);
