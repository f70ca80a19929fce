// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/agent_config.h"

/* Check what values say together, and give services without a name that of their protocol. -1 with
 * ERROR_USAGE. */
int config_check(struct agent_config *config, struct error *error);
