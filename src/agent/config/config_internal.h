// SPDX-License-Identifier: Apache-2.0
/* The steps from a file and the environment to a configuration, for this folder's own files. */
#pragma once

#include "agent/config/agent_config.h"
#include "util/buffer.h"

/* ---- config_check.c ---- */

/* Check values against each other. A rule gets what it does not say from section `record`. A
 * service without a name gets the name of its protocol, a trigger without a name gets one that is
 * made of its condition. -1 with ERROR_USAGE. */
int config_check(struct agent_config *config, struct error *error);

/* ---- config_environment.c ---- */

/* Override values by variables of the environment. -1 with ERROR_USAGE, which names the variable.
 */
int config_environment_apply(struct agent_config *config, struct error *error);

/* ---- config_file.c ---- */

/* Append the text of the configuration's file: UTF-8 without control characters, at most 1 MiB. -1
 * with error: ERROR_FAILED if the file can't be read, ERROR_USAGE if it is no such text. */
int config_file_read(const struct agent_config *config, struct buffer *text, struct error *error);

/* ---- config_url.c ---- */

/* Return the fault of a service's URL, as the end of the sentence "push.url ...", or NULL. The
 * sentence does not repeat the URL, which may hold a password. */
const char *config_url_fault(const char *url);
