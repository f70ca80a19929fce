// SPDX-License-Identifier: Apache-2.0
/* When events could be seen, as columns of a page; html.c describes them. */
#pragma once

#include "output/html/columns.h"
#include "output/output.h"

/* Add a column for the recorder itself and for each selected event whose spans are known. `events`:
 * numbers of events in the page, by id. */
void html_spans_add(struct html_columns *columns, const struct output_source *source,
                    const uint8_t *events);
