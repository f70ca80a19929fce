// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent answers:
 *
 *   /healthz    200 while the agent runs
 *   /readyz     200 while it records
 *   /metrics    numbers for Prometheus
 *   /nodes      the VMs that are profiled, and those that are not (nodes_answer.c)
 *   /profile    a profile of the last minutes (profile_answer.c)
 *   /dump       the processes of a VM now (dump_answer.c)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent_status.h"
#include "agent/config/agent_config.h"
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
    unsigned damaged;   /* recordings that it lacks, at least in part */
    bool is_slow;       /* it has a place until it is sent (http/slow_requests.h) */
};

/* Called on several threads. */
struct http_answer http_answer_make(const struct http_server_options *options,
                                    const struct http_request *request);

/* An answer of one line. */
struct http_answer http_answer_text(unsigned status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- nodes_answer.c ---- */

/* GET /nodes: which VMs of the host are profiled now, and why others are not, as JSON
 * (docs/json.md). */
struct http_answer nodes_answer(const struct agent_status *status);

/* ---- profile_answer.c ---- */

/*
 * Profiles of the last minutes, from the recordings of the spool: nothing is recorded for them, so
 * they come at once.
 *
 *   GET /profile?node=shop&event=cpu&seconds=60&format=pprof
 *
 * node     as for --node; without it, all VMs
 * event    cpu without it
 * seconds  how far to look back, 60 without it; whole recordings are taken
 * format   of an output, "pprof" without it: so `go tool pprof http://host/profile?node=shop`
 * works, and a browser shows format=svg and format=html
 *
 * A recording that is damaged is left out from the damage on. The header
 * Beamflame-Damaged-Recordings has their number.
 */
struct http_answer profile_answer(const struct agent_config *config,
                                  const struct http_request *request);

/* ---- dump_answer.c ---- */

/*
 * /dump: all processes of one VM with their stacks, its tables, ports and memory, as they are now.
 *
 *   node      name, with or without its host, or pid; may be left out if there is one VM
 *   format    json (default), text: as `beamflame dump` writes it
 *
 * `dumps`: the channel of requests (agent/dumper.h).
 */
struct http_answer dump_answer(int dumps, const struct http_request *request);
