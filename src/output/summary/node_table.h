// SPDX-License-Identifier: Apache-2.0
/* Metrics of whole VMs (profile/node_metrics.h) as text for people: what has grown. */
#pragma once

#include <stdio.h>

#include "output/output.h"

/* Write each VM's own metrics, and its allocators, tables and ports with the greatest changes in
 * the selected time. Writes nothing if no metrics were recorded. */
void node_table_write(FILE *file, const struct output_source *source,
                      const struct recording_totals *totals);
