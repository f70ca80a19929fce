// SPDX-License-Identifier: Apache-2.0
/*
 * A client of one service. It sends one request at a time over connections that stay open. Clients
 * can be used on several threads, each on one at a time.
 *
 *   new ──> send... ──> free
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "push/push_service.h"
#include "util/error.h"

struct push_label {
    const char *name, *value;
};

/* A profile, not compressed: pprof for Pyroscope and Parca, ProfilesData for OpenTelemetry. */
struct push_profile {
    const void *data;
    size_t size;
    const struct push_label *labels; /* of the series; none for OpenTelemetry, where they are in the
                                      * data */
    size_t label_count;
    uint8_t id[16]; /* the same whenever the same profile is sent. Pyroscope shows it in its logs
                     * and errors; it stores the profile under an id of its own
                     * (pkg/distributor/distributor.go:823, v2.2.0). */
};

enum push_outcome {
    PUSH_ACCEPTED,
    PUSH_REFUSED, /* the same request would be refused again */
    PUSH_LATER,   /* the service or the network can't take it now */
};

struct push_reply {
    enum push_outcome outcome;
    long status;        /* of HTTP; 0: no answer */
    double retry_after; /* seconds that the service asks to wait; 0: it did not say */
    uint64_t sent;      /* bytes of the request's body that went out */
    uint64_t rejected;  /* profiles that an accepting service has dropped */
    char reason[256];   /* one sentence, clean for a terminal; "" if all was accepted without a
                         * warning */
};

struct push_client;

/* Borrows `service`. NULL with ERROR_FAILED, or ERROR_USAGE for a service that can't be used as it
 * is described. The first client loads libcurl: make it before the process gives up files. Requests
 * read files of the service and of the resolver of names, and may start a thread for it. */
struct push_client *push_client_new(const struct push_service *service, struct error *error);
void push_client_free(struct push_client *client);

/* A callback for requests: they call it some times a second. */
struct push_stop {
    bool (*is_set)(void *context); /* true if the request must end now */
    void *context;
};

/* Send profiles in one request; OpenTelemetry's protocol takes one at a time. Waits at most 30 s,
 * and less than 1 s after `stop` is set. */
struct push_reply push_client_send(struct push_client *client, const struct push_profile *profiles,
                                   size_t count, const struct push_stop *stop);

/* ---- push_backoff.c ---- */

/* How long to wait before a request is sent again. */

struct push_backoff {
    unsigned failures; /* in a row */
};

/* Return the seconds to wait after a reply: 0 if the service has accepted or refused, else 1 s,
 * doubled after each failure up to 60 s. Up to half of it is taken off at random, so that agents do
 * not come all at once. The time that the service asks for, at most an hour, is added. `random`: 0
 * to 1. */
double push_backoff_wait(struct push_backoff *backoff, const struct push_reply *reply,
                         double random);
