// SPDX-License-Identifier: Apache-2.0
/* The ports of a VM, as erlang:port_info/1 shows them, and the sockets of its network drivers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/ptab.h"
#include "beam/vm.h"

enum { PORT_DRIVER_BYTES = 64, PORT_NAME_BYTES = 128 };

/* The socket of a port of tcp_inet, udp_inet or sctp_inet. */
struct port_socket {
    int fd;              /* -1: none, or not known */
    bool has_traffic;    /* the next two are known, as inet:getstat/1 counts them */
    uint64_t octets_in;  /* received */
    uint64_t octets_out; /* sent */
};

struct port_info {
    uint64_t address;
    uint64_t id;         /* port term */
    char text[48];       /* "#Port<0.5>" */
    uint64_t owner;      /* pid term of the connected process; 0: none */
    uint64_t registered; /* atom term; 0: none */
    uint64_t bytes_in, bytes_out;
    uint64_t queue;                 /* bytes in the driver's queue */
    int64_t os_pid;                 /* of the program that it runs; 0: none */
    uint32_t state;                 /* enum erts_port_sflg */
    uint32_t tasks;                 /* enum erts_pts_flg */
    char driver[PORT_DRIVER_BYTES]; /* "" if it can't be read */
    char name[PORT_NAME_BYTES];     /* the text that opened it, cut; "" if it can't be read */
    struct port_socket socket;
};

/* Called with each port. Returns false to end the visit. */
typedef bool (*port_visit)(void *context, const struct port_info *port);

struct port_counts {
    uint64_t gone; /* ports that ended before they were read, or can't be read */
    uint64_t lost; /* ports that were not read: there are too many */
};

/* Visit the ports in the order of the table, those that are being opened left out. Add to *counts
 * those that are not visited. Return 0, or -1 with error if ports of this release are not known, or
 * the table can't be read. */
int ports_each(struct vm *vm, port_visit visit, void *context, struct port_counts *counts,
               struct error *error);

/* Visit the addresses of all ports. Return 0, or -1 with error if the table can't be read. */
int ports_each_address(struct vm *vm, ptab_visit visit, void *context, struct error *error);

/* A port, and the descriptor that it had. */
struct port_descriptor {
    uint64_t address, id;
    int fd;
    size_t place; /* of the caller */
};

/* Set the descriptor of each port that does not have it any more to -1: the number may belong to
 * another socket since. */
void ports_confirm_descriptors(struct vm *vm, struct port_descriptor *ports, size_t count);
