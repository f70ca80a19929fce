// SPDX-License-Identifier: Apache-2.0
/*
 * The processes of the agent: one sends to each service, one answers HTTP, and one takes dumps for
 * it. They follow the current configuration.
 *
 *   { apply ──> look... }... ──> end
 */
#pragma once

#include "agent/agent_status.h"
#include "agent/config/agent_config.h"
#include "agent/worker.h"
#include "util/error.h"

enum { SERVICES_MAX = 16 };

struct services {
    const char *directory; /* of the spool */
    struct agent_status *status;
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    int log_file; /* descriptor of the file that gets the log; -1: none */
    int roster;   /* the file of the VMs that are recorded (agent/roster.h) */

    struct service {
        struct push_service push; /* a copy */
        struct service_status *status;
        struct worker worker;
        bool failed; /* its start has failed, which was reported */
    } of[SERVICES_MAX];
    size_t count;
    /* Senders that end after their current request. */
    struct worker leaving[SERVICES_MAX];
    struct service_status *left[SERVICES_MAX]; /* what each counts in */
    struct worker http;
    char *http_listen, *http_token_file; /* of the process that runs; NULL: none */
    bool http_failed;
    struct worker dumper; /* runs while HTTP is answered */
    int dump_ends[2];     /* between the two (agent/dumper.h); both 0: not made */
    bool dumper_failed;
};

/* Start, restart and end processes by the configuration. A process whose configuration is unchanged
 * continues. `services` has its first five members at first. A process that can't be started is
 * reported, and tried again later. */
void services_apply(struct services *services, const struct agent_config *config);

/* Start what has ended. `now`: CLOCK_MONOTONIC. */
void services_look(struct services *services, const struct agent_config *config, uint64_t now);

/* Let senders send the rest, for at most some seconds, and end them. */
void services_end(struct services *services);
