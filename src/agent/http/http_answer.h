// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent answers:
 *
 *   /healthz    200 while the agent runs
 *   /readyz     200 while it records
 *   /metrics    numbers for Prometheus
 *   /nodes      the VMs that are profiled, and those that are not (http/nodes_answer.h)
 *   /profile    a profile of the last minutes (http/profile_answer.h)
 *   /dump       the processes of a VM now (http/dump_answer.h)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/http/http_server.h"
#include "util/buffer.h"

struct http_request {
    const char *path;
    bool is_get;               /* also for HEAD */
    bool is_head;              /* the body is not sent */
    const char *host;          /* the header; NULL: none */
    const char *authorization; /* the header; NULL: none */
    const char *accept;        /* the same */
    /* Return the value of ?NAME=VALUE, or NULL. */
    const char *(*argument)(void *context, const char *name);
    void *context;
};

struct http_answer {
    unsigned status;
    const char *type;
    char name[300];     /* the header Content-Disposition; "" for none */
    struct buffer text; /* the body, if fd is -1 */
    int fd;             /* reads the body; -1: it is in `text` */
    uint64_t size;      /* of the body in fd */
    bool is_slow;       /* it has a place until it is sent (http/slow_requests.h) */
};

/* Called on several threads. */
struct http_answer http_answer_make(const struct http_server_options *options,
                                    const struct http_request *request);

/* An answer of one line. */
struct http_answer http_answer_text(unsigned status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
