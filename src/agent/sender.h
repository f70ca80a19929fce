// SPDX-License-Identifier: Apache-2.0
/*
 * The process that sends the recordings of the spool to one service. It may only talk to the
 * network, and outlives the agent for some seconds, to send the rest.
 */
#pragma once

#include "agent/agent_status.h"
#include "agent/worker.h"
#include "push/push_service.h"
#include "util/error.h"

struct sender_options {
    const char *directory; /* of the spool */
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    int log_file; /* descriptor of the file that gets the log; -1: none */
};

/* Start the process, which counts in `status`. -1 with error. */
int sender_start(struct worker *worker, const struct push_service *service,
                 const struct sender_options *options, struct service_status *status,
                 struct error *error);

/* Wait, for at most some seconds, until processes that should end have sent the rest. */
void senders_await(struct worker *workers, size_t count);
