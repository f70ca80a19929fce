// SPDX-License-Identifier: Apache-2.0
/* The process that answers HTTP. It has no right but to read the spool and its token. */
#pragma once

#include "agent/config/agent_config.h"
#include "agent/agent_status.h"
#include "agent/worker.h"
#include "util/error.h"

struct http_server_options {
    const struct agent_config *config;
    const struct agent_status *status;
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    int dumps;    /* where dumps are requested (agent/dumper.h) */
    int log_file; /* descriptor of the file that gets the log; -1: none */
};

/* Listen, and start the process. -1 with error. */
int http_server_start(struct worker *worker, const struct http_server_options *options,
                      struct error *error);

void http_server_end(struct worker *worker);
