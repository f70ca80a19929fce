// SPDX-License-Identifier: Apache-2.0
/* Metrics of whole VMs, as a column of a page; html.c describes it. */
#pragma once

#include "output/html/columns.h"
#include "output/output.h"

/* Add the column, unless no metrics of VMs were recorded. */
void html_node_metrics_add(struct html_columns *columns, const struct output_source *source);
