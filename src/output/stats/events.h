// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/counts.h"
#include "output/json/json.h"
#include "output/output.h"

/* Write the key "events" of --stats: the counts of each event. `samples` is the number of samples
 * by event. Write nothing for a recording of CPU samples alone: it has no counts besides its
 * samples. */
void stats_put_events(struct json *json, const struct output_source *source,
                      const struct counts *samples);
