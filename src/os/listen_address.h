// SPDX-License-Identifier: Apache-2.0
/* Where the agent listens: "127.0.0.1:9466", "[::1]:9466", or "unix:/run/beamflame.sock". */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "util/error.h"

struct listen_address {
    struct sockaddr_storage address;
    socklen_t size;
    bool is_local; /* only this host can connect */
};

/* ERROR_USAGE if `text` is no address. Names of hosts are not looked up. */
int listen_address_parse(const char *text, struct listen_address *ret_address, struct error *error);

/* Return a socket that listens, or -1 with error. A socket file that nobody uses is replaced. */
int listen_address_open(const struct listen_address *address, const char *text,
                        struct error *error);
