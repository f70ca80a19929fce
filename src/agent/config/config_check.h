// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/agent_config.h"

/* Check what values say together. Services without a name get that of their protocol, triggers
 * without one a name that is made of their condition. -1 with ERROR_USAGE. */
int config_check(struct agent_config *config, struct error *error);
