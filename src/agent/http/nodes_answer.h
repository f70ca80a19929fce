// SPDX-License-Identifier: Apache-2.0
/* GET /nodes: which VMs of the host are profiled now, and why others are not, as JSON
 * (docs/json.md). */
#pragma once

#include "agent/agent_status.h"
#include "agent/http/http_answer.h"

struct http_answer nodes_answer(const struct agent_status *status);
