// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "output/html_columns.h"
#include "output/html_samples.h"
#include "output/output.h"

/* Write as JSON what a page knows besides columns; html.c describes it. */
void html_header_write(FILE *file, const struct output_source *source,
                       const struct recording_totals *totals, const struct html_samples *samples,
                       const struct html_columns *columns);
