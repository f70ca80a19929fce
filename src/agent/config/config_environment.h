// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/agent_config.h"

/* Override values by variables of the environment. -1 with ERROR_USAGE, which names the variable.
 */
int config_environment_apply(struct agent_config *config, struct error *error);
