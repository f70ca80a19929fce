// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "agent/config/agent_config.h"

/* Read the file of the configuration. -1 with error. */
int config_yaml_read(struct agent_config *config, struct error *error);

/* True if YAML takes this text, without quotes, for "no value". */
bool config_yaml_is_null(const char *text);
