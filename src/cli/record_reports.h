// SPDX-License-Identifier: Apache-2.0
/* What `record` prints while it records: progress on a terminal, and what is reported to it. */
#pragma once

#include "rotation/options.h"
#include "rotation/rotation.h"

/* The line on a terminal that shows what is being recorded. */
struct progress {
    bool quiet;
    bool live; /* standard error is a terminal, and progress is wanted */
    uint64_t shown;
};

/* Return functions that print what they get; if `quiet`, only errors and warnings. They use
 * *progress, which this sets. */
struct rotation_reports record_reports(struct progress *progress, bool quiet);

/* Print what the segments lack. Return the exit code. */
int record_say_segments(const struct rotation_counts *counts);
