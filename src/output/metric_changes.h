// SPDX-License-Identifier: Apache-2.0
/*
 * How much a metric has changed since its process' sample before, of the same event, at which it
 * was known. At the first one no change is known: that counts nothing.
 */
#pragma once

#include "profile/profile.h"

struct metric_changes;

struct metric_changes *metric_changes_new(const struct profile *profile, enum metric metric);
void metric_changes_free(struct metric_changes *changes);

/* Every sample, in order of time. *ret_sample is the sample with the change, and with flags that
 * say whether that is growth or release. */
void metric_changes_apply(struct metric_changes *changes, const struct sample *sample,
                          struct sample *ret_sample);
