// SPDX-License-Identifier: Apache-2.0
/* The process that answers HTTP. It has no right but to read the spool and its token. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "agent/config/agent_config.h"
#include "agent/agent_status.h"
#include "util/error.h"

struct http_server_options {
    const struct agent_config *config; /* its services have the names of status->services */
    const struct agent_status *status;
    int log_file; /* descriptor of the file that gets the log; -1: none */
};

struct http_server {
    bool is_wanted; /* the configuration has an address */
    pid_t pid;      /* 0: not running */
    int end_fd; /* closed to end it */
};

/* Listen, and start the process. Does nothing if the configuration has no address. -1 with error.
 */
int http_server_start(struct http_server *server, const struct http_server_options *options,
                      struct error *error);
/* True if the process should run, and does not. */
bool http_server_has_ended(struct http_server *server);

void http_server_end(struct http_server *server);
