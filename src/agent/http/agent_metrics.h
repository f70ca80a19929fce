// SPDX-License-Identifier: Apache-2.0
/* The numbers of the agent and of all VMs as metrics. */
#pragma once

#include "agent/agent_status.h"
#include "agent/http/metric_text.h"

void agent_metrics_write(const struct agent_status *status, const struct metric_text *out);

/* Call `visit` with each family that there can be. */
void agent_metrics_families(void (*visit)(void *context, const struct metric_family *family),
                            void *context);
