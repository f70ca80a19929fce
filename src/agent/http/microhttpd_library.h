// SPDX-License-Identifier: Apache-2.0
/* libmicrohttpd, loaded by the process that answers HTTP. Its libraries for TLS would run their own
 * code at the start of every command, with its rights. */
#pragma once

#include <microhttpd.h>

#include "util/error.h"

#define MICROHTTPD_FUNCTIONS(FUNCTION)                                                             \
    FUNCTION(add_response_header)                                                                  \
    FUNCTION(create_response_from_buffer)                                                          \
    FUNCTION(create_response_from_fd64)                                                            \
    FUNCTION(destroy_response)                                                                     \
    FUNCTION(lookup_connection_value)                                                              \
    FUNCTION(queue_response)                                                                       \
    FUNCTION(start_daemon)                                                                         \
    FUNCTION(stop_daemon)

/* MHD_NAME() is the member NAME. */
struct microhttpd_library {
#define MICROHTTPD_MEMBER(name) __typeof__(&MHD_##name) name;
    MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
#undef MICROHTTPD_MEMBER
};

/* Load it, once. Return 0, or -1 with error. */
int microhttpd_load(struct error *error);

/* The library that microhttpd_load() has loaded. */
extern struct microhttpd_library microhttpd;
