// SPDX-License-Identifier: Apache-2.0
/*
 * The agent: one process records all VMs of the host in segments, into the spool. For each service
 * another process sends them.
 *
 *   session ──> rotation ──> spool ──> sender ──> push
 *                                 └──> sender ──> push
 */
#pragma once

#include "agent/config/agent_config.h"
#include "rotation/options.h"
#include "util/error.h"

struct agent_options {
    struct agent_config *config; /* gets the values of the new configuration at each reload */
    const char *config_path;     /* of its file; NULL: none */
    const struct rotation_reports *reports; /* `progress` and `wrote` are not called */
    const char *command_line;
    const char *temporary; /* directory of temporary files */
    const volatile int *stop;
    volatile int *reload; /* set to read the configuration again; set to 0 then */
    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* Check what agent_config_load() can't: the events. */
int agent_check(const struct agent_config *config, struct error *error);

/* Run until `*stop` is set. 0, or -1 with error. */
int agent_run(const struct agent_options *options, struct error *error);
