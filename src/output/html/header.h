// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "output/html/columns.h"
#include "output/html/samples.h"
#include "output/output.h"

/* Write the header of a page as JSON: all of its data but the columns. html.c describes it. */
void html_header_write(FILE *file, const struct output_source *source,
                       const struct recording_totals *totals, const struct html_samples *samples,
                       const struct html_columns *columns);
