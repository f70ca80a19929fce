// SPDX-License-Identifier: Apache-2.0
/* The ports and sockets of a dump. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct dump_socket {
    int fd;             /* descriptor of the OS process; -1: none, or not known */
    string_id protocol; /* "tcp", "unix"...; 0: no address is known */
    string_id state, local, peer;
    bool is_listening;
    bool has_queues;                    /* the next two are known */
    uint64_t send_queue, receive_queue; /* os/socket_table.h */
};

enum dump_port_flag {
    PORT_BUSY = 1 << 0,         /* processes that send to it are suspended */
    PORT_CLOSING = 1 << 1,      /* closed, but its queue is not yet written */
    PORT_DISTRIBUTION = 1 << 2, /* a connection to another node */
};

struct dump_port {
    string_id id, name, driver, registered;
    process_id owner; /* 0: none */
    uint64_t bytes_in, bytes_out, queue;
    uint64_t os_pid; /* of the program that it runs; 0: none */
    uint8_t flags;   /* enum dump_port_flag */
    struct dump_socket socket;
    bool has_traffic;               /* the next two are known */
    uint64_t octets_in, octets_out; /* of the socket */
};

struct dump_ports {
    string_id unknown;    /* the reason why the ports were not read; 0: they were */
    string_id no_sockets; /* the same for sockets */
    struct dump_port *ports;
    size_t count, room;
    struct dump_socket *sockets; /* those without a port */
    size_t socket_count, socket_room;
    uint64_t gone; /* ports that ended while they were read */
    uint64_t lost; /* ports that were not read: there are too many */
    bool is_cut;   /* there are more sockets than beamflame reads */
};

void dump_ports_free(struct dump_ports *ports);

/* Return the bytes that wait in the port and its socket. Connections that wait are no bytes. */
uint64_t dump_port_queued(const struct dump_port *port);
uint64_t dump_socket_queued(const struct dump_socket *socket);

/* Return the bytes that the port read and wrote so far. */
uint64_t dump_port_bytes(const struct dump_port *port);

/* Sort ports and sockets by what is queued, then by bytes, the largest first. */
void dump_ports_sort(struct dump_ports *ports);
