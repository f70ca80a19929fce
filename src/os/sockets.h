// SPDX-License-Identifier: Apache-2.0
/*
 * The sockets of an OS process, by descriptor: what /proc/PID/fd and /proc/PID/net show of them.
 * The tables are of the process's network namespace. Each file is read once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/alloc.h"
#include "util/error.h"

/* ---- socket_table.c ---- */

/* The lines of /proc/PID/net/tcp, tcp6, udp, udp6 and unix: the sockets of a network namespace. */

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
    /* Bytes that were not sent or acknowledged yet, and bytes that were not received yet. The
     * `receive_queue` of a listening TCP socket is the number of connections that wait to be
     * accepted. */
    uint64_t send_queue, receive_queue;
    char local[SOCKET_ADDRESS_BYTES]; /* "127.0.0.1:80", "[::1]:80", a path; "" if it has none */
    char peer[SOCKET_ADDRESS_BYTES];  /* "" if it is not connected */
};

/* The name of a table, of its protocol and of its file in /proc/PID/net. */
const char *socket_table_name(enum socket_table table);

/* Parse a line without its line break. False for the head of the table, and for any other line
 * without a socket. */
bool socket_table_parse_line(enum socket_table table, const char *line,
                             struct socket_line *ret_line);

/* ---- sockets.c ---- */

struct socket {
    int fd;
    uint64_t inode;
    const char *protocol; /* "tcp"...; NULL: in no table, as a socket without address */
    const char *state;
    bool is_listening, has_queues;
    uint64_t send_queue, receive_queue;
    const char *local, *peer;
};

struct sockets {
    struct socket *list; /* by descriptor, ascending */
    size_t count, room;
    bool is_cut; /* there are more descriptors or lines than beamflame reads */
    struct arena texts;
};

/* Fill *sockets, to be freed. Return 0, or -1 with error if the descriptors can't be listed. */
int sockets_read(pid_t pid, struct sockets *sockets, struct error *error);
void sockets_free(struct sockets *sockets);

/* Return the socket with this descriptor, NULL if there is none. */
const struct socket *sockets_find(const struct sockets *sockets, int fd);
