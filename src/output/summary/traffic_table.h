// SPDX-License-Identifier: Apache-2.0
/* Traffic as tables of the summary: who sends to whom and who receives, or who wakes whom. */
#pragma once

#include <stdio.h>

#include "output/row_cells.h"
#include "output/rows.h"
#include "output/traffic.h"

struct traffic_table {
    struct traffic traffic;
    bool has_peers; /* else the event has no traffic */
    uint32_t value; /* by which rows are chosen and sorted */
    struct row_whole whole;
    struct row_cells cells; /* by preliminary edge */
};

void traffic_table_init(struct traffic_table *table, const struct output_source *source,
                        event_id event);
void traffic_table_free(struct traffic_table *table);
void traffic_table_add(struct traffic_table *table, const struct sample *sample);

/* Write the tables; nothing if there are no edges. `seconds` is the duration, for rates. `is_part`:
 * samples were not selected. */
void traffic_table_write(FILE *file, struct traffic_table *table,
                         const struct output_source *source, event_id event, double seconds,
                         bool is_part);
