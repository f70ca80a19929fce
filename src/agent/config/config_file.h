// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/agent_config.h"
#include "util/buffer.h"

/* Append the text of the configuration's file: UTF-8 without control characters, at most 1 MiB. -1
 * with error: ERROR_FAILED if the file can't be read, ERROR_USAGE if it is no such text. */
int config_file_read(const struct agent_config *config, struct buffer *text, struct error *error);
