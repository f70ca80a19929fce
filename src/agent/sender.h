// SPDX-License-Identifier: Apache-2.0
/*
 * The process that sends the recordings of the spool to one service. It has no right but to talk to
 * the network, and outlives the agent for some seconds, to send what is left.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "agent/agent_status.h"
#include "push/push_service.h"
#include "util/error.h"

struct sender_options {
    const char *directory; /* of the spool */
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    int log_file; /* descriptor of the file that gets the log; -1: none */
};

struct sender {
    const struct push_service *service;
    pid_t pid;  /* 0: not running */
    int end_fd; /* closed to end it */
};

/* Start the process, which counts in `status`. -1 with error. */
int sender_start(struct sender *sender, const struct push_service *service,
                 const struct sender_options *options, struct service_status *status,
                 struct error *error);

/* True if the process has ended by itself, which it should not: start it again. */
bool sender_has_ended(struct sender *sender);

/* Let the processes send what is left, which takes at most some seconds, and end. */
void senders_end(struct sender *senders, size_t count);
