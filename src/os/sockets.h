// SPDX-License-Identifier: Apache-2.0
/*
 * The sockets of an OS process, by descriptor: what /proc/PID/fd and /proc/PID/net show of them.
 * The tables are those of the network namespace of the process. Each file is read once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/socket_table.h"
#include "util/alloc.h"
#include "util/error.h"

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
