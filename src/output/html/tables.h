// SPDX-License-Identifier: Apache-2.0
/* The tables of a recording as columns of a page; html.c describes them. */
#pragma once

#include "output/html/columns.h"
#include "output/output.h"
#include "profile/profile.h"

/* Add the columns of all tables, and close them. */
void html_tables_add(const struct profile *profile, struct html_columns *columns);

/* Add a column for the recorder itself and for each selected event whose spans are known. `events`:
 * numbers of events in the page, by id. */
void html_tables_add_spans(struct html_columns *columns, const struct output_source *source,
                           const uint8_t *events);

/* Add the column, unless no metrics of VMs were recorded. */
void html_tables_add_node_metrics(struct html_columns *columns, const struct output_source *source);
