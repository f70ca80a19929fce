// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent did so far, in memory that all of its processes share: each number is written by
 * one of them, and read by the one that answers HTTP.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "util/error.h"

enum { STATUS_SERVICES_MAX = 16 };

/* Written by the process that sends to the service. */
struct service_status {
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
    _Atomic uint64_t started_at;  /* seconds since 1970 */
    _Atomic uint64_t recorded_at; /* seconds of CLOCK_BOOTTIME: newest step of recording; 0: none */
    _Atomic uint64_t nodes;       /* VMs that are recorded */
    _Atomic uint64_t segments;    /* recordings that are complete */
    _Atomic uint64_t samples, lost;
    _Atomic uint64_t spool_bytes, spool_recordings;
    struct service_status services[STATUS_SERVICES_MAX];
};

/* Return zeros in shared memory, or NULL with error. */
struct agent_status *agent_status_new(struct error *error);
void agent_status_free(struct agent_status *status);
