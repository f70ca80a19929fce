// SPDX-License-Identifier: Apache-2.0
/* A service that takes profiles, as the configuration describes it. */
#pragma once

#include <stdbool.h>

enum push_protocol {
    PUSH_OTLP,      /* OpenTelemetry over HTTP: a collector, Pyroscope, Elastic */
    PUSH_PYROSCOPE, /* push.v1.PusherService/Push */
    PUSH_PARCA,     /* api/profiles/writeraw */
    PUSH_PROTOCOLS,
};

/* Files are read for each request, so that secrets can be renewed. NULL: not given. */
struct push_service {
    enum push_protocol protocol;
    char *name; /* for messages and for names of files: letters, digits, '-' and '_' */
    char *url;  /* up to the path that the protocol adds: "https://pyroscope:4040" */
    char *tenant;
    char *user, *password_file; /* Basic authentication, both or none */
    char *token_file;           /* Bearer authentication */
    char *ca_file;              /* trust these certificates instead of the system's */
    char *events;               /* which events are sent: "cpu,gc"; NULL: all */
    bool traces;                /* profiles have the traces and spans of samples */
    bool timestamps;            /* each sample has its time: only PUSH_OTLP */
};

/* "otlp", "pyroscope", "parca". */
const char *push_service_protocol_name(enum push_protocol protocol);

/* Return a copy, to be freed. */
struct push_service push_service_copy(const struct push_service *service);

/* True if all that the configuration says of them is equal. */
bool push_service_is_equal(const struct push_service *one, const struct push_service *other);

void push_service_free(struct push_service *service); /* what it owns, not itself */
