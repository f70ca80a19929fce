// SPDX-License-Identifier: Apache-2.0
/* Where the agent listens: "127.0.0.1:9466", "[::1]:9466", "unix:/run/beamflame.sock", or
 * "unix:http.sock", a file in a directory of the agent. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "util/error.h"

struct listen_address {
    struct sockaddr_storage address;
    socklen_t size;
    bool is_local; /* only this host can connect */
};

/* Names of sockets are of files in `directory`. Names of hosts are not looked up. ERROR_USAGE if
 * `text` is no address. */
int listen_address_parse(const char *text, const char *directory,
                         struct listen_address *ret_address, struct error *error);

/* Return a socket that listens, or -1 with error. A socket file that nobody uses is replaced. */
int listen_address_open(const struct listen_address *address, const char *text,
                        struct error *error);
