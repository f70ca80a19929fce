// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/counts.h"
#include "output/output.h"

/* Write the key "events" of --stats: what was counted of each event. Not there for a recording that
 * is of CPU samples alone, whose numbers are those of the samples. */
void stats_put_events(FILE *file, const struct output_source *source, const struct counts *samples);
