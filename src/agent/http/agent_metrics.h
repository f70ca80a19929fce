// SPDX-License-Identifier: Apache-2.0
/* The agent's own numbers in the text format of Prometheus. */
#pragma once

#include "agent/config/agent_config.h"
#include "agent/agent_status.h"
#include "util/buffer.h"

void agent_metrics_write(const struct agent_config *config, const struct agent_status *status,
                         struct buffer *text);
