// SPDX-License-Identifier: Apache-2.0
/* The numbers of all VMs as metrics. */
#pragma once

#include "agent/http/metric_text.h"
#include "agent/node_board.h"

void node_metrics_text_write(const struct node_board *board, const struct metric_text *out);

/* Call `visit` with each family, in the order of writing. */
void node_metrics_text_families(void (*visit)(void *context, const struct metric_family *family),
                                void *context);
