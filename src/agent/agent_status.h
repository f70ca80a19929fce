// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent has done, in memory that all of its processes share. One process writes each
 * number; the HTTP process reads all of them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/node_board.h"
#include "agent/trigger_counts.h"
#include "session/session.h"
#include "session/targets.h"
#include "util/error.h"
#include "util/seqlock.h"

enum { STATUS_SERVICES_MAX = 32 }; /* those of a configuration, and those of the one before */
enum { STATUS_REFUSALS_MAX = 512, STATUS_NODE_ROOM = 264, STATUS_REASON_ROOM = 240 };

/* A VM that runs and is not profiled. */
struct refusal_status {
    uint64_t pid;
    enum refusal_kind kind;
    /* Not clean texts (util/utf8.h), which are cut if they are longer. */
    char node[STATUS_NODE_ROOM]; /* "" if it is not known */
    char reason[STATUS_REASON_ROOM];
};

/* The first refusals. One process writes them, and others read them. */
struct refusals_status {
    struct seqlock lock;
    uint64_t count;
    struct refusal_status of[STATUS_REFUSALS_MAX];
};

/* Written by the process that sends to the service. */
struct service_status {
    char name[65];                              /* written before it is shown */
    _Atomic bool is_shown;                      /* the configuration has the service */
    _Atomic uint64_t requests, profiles, bytes; /* that it has accepted */
    _Atomic uint64_t refused;                   /* profiles that it will never take */
    _Atomic uint64_t retries;                   /* requests that were, or will be, sent again */
    _Atomic uint64_t unreadable;                /* recordings of which no profiles could be made */
    _Atomic uint64_t accepted_at;               /* seconds since 1970, of the newest; 0: never */
    /* Written by the process that records: starts of the sender after the first; recordings that
     * left the spool before they were sent, and those in the spool that were not sent yet. */
    _Atomic uint64_t restarts, dropped, waiting;
};

/* Written by the process that records. */
struct agent_status {
    _Atomic uint64_t http_restarts; /* starts of the process that answers HTTP after the first */
    _Atomic uint64_t started_at;    /* seconds since 1970 */
    _Atomic uint64_t recorded_at; /* seconds of CLOCK_BOOTTIME: newest step of recording; 0: none */
    _Atomic uint64_t nodes;       /* VMs that are recorded */
    _Atomic uint64_t refused;     /* VMs that run and are not profiled */
    _Atomic uint64_t refused_by[REFUSAL_KINDS]; /* the same, by enum refusal_kind */
    _Atomic uint64_t segments;                  /* recordings that are complete */
    _Atomic uint64_t paused;        /* 1 while nothing is recorded: the spool can't be written */
    _Atomic uint64_t unrecorded_ns; /* time in which nothing was recorded, after the first start */
    _Atomic uint64_t samples, lost;
    _Atomic uint64_t losses[LOSS_COUNT];    /* by enum loss */
    _Atomic uint64_t cpu_ns, resident;      /* of the process that records; bytes */
    _Atomic uint64_t all_cpu_ns, all_bytes; /* of all processes of the agent; 0: not known */
    uint64_t cpu_due, memory_due;           /* CLOCK_MONOTONIC: when they are read next */
    _Atomic uint64_t budget_ppm;            /* what is in force; 10000 ppm are 1 % */
    _Atomic uint64_t spool_bytes, spool_recordings;
    struct service_status services[STATUS_SERVICES_MAX];
    struct refusals_status refusals;
    struct node_board nodes_board;
    struct trigger_counts triggers;
};

/* Write the list. The first STATUS_REFUSALS_MAX of `count` are kept. */
void agent_status_set_refusals(struct agent_status *status, const struct refusal_status *refusals,
                               size_t count);

/* Read the list, `*count` of them. False if it changed too often meanwhile. */
bool agent_status_refusals(const struct agent_status *status,
                           struct refusal_status refusals[STATUS_REFUSALS_MAX], size_t *count);

/* Write what a session has done, and the numbers of its targets. */
void agent_status_note(struct agent_status *status, const struct session *session,
                       const struct session_options *options, const struct targets *targets);

/* Return zeros in shared memory, or NULL with error. */
struct agent_status *agent_status_new(struct error *error);
void agent_status_free(struct agent_status *status);
