// SPDX-License-Identifier: Apache-2.0
/* The lines of /proc/PID/net/tcp, tcp6, udp, udp6 and unix: the sockets of a network namespace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum socket_table {
    SOCKET_TCP,
    SOCKET_TCP6,
    SOCKET_UDP,
    SOCKET_UDP6,
    SOCKET_UNIX,
    SOCKET_TABLES,
};

enum { SOCKET_ADDRESS_BYTES = 128 }; /* a path has at most 108 bytes */

struct socket_line {
    uint64_t inode;
    const char *state; /* "listen", "established"..., static */
    bool is_listening;
    bool has_queues; /* the next two are known */
    /* Bytes that are not sent or acknowledged, and bytes that are not received. Of a listening TCP
     * socket, `receive_queue` is the connections that wait to be accepted. */
    uint64_t send_queue, receive_queue;
    char local[SOCKET_ADDRESS_BYTES]; /* "127.0.0.1:80", "[::1]:80", a path; "" if it has none */
    char peer[SOCKET_ADDRESS_BYTES];  /* "" if it is not connected */
};

/* The name of a table, which is that of the protocol and of the file. */
const char *socket_table_name(enum socket_table table);

/* Parse a line without its line break. False for the head of the table, and for any other line that
 * is not that of a socket. */
bool socket_table_parse_line(enum socket_table table, const char *line,
                             struct socket_line *ret_line);
