// SPDX-License-Identifier: Apache-2.0
#include "profile/dump_ports.h"

#include <stdlib.h>

void dump_ports_free(struct dump_ports *ports)
{
    free(ports->ports);
    free(ports->sockets);
    *ports = (struct dump_ports){0};
}

uint64_t dump_socket_queued(const struct dump_socket *socket)
{
    return socket->has_queues && !socket->is_listening ? socket->send_queue + socket->receive_queue
                                                       : 0;
}

uint64_t dump_port_queued(const struct dump_port *port)
{
    return port->queue + dump_socket_queued(&port->socket);
}

uint64_t dump_port_bytes(const struct dump_port *port)
{
    return port->has_traffic ? port->octets_in + port->octets_out
                             : port->bytes_in + port->bytes_out;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Ports with equal queue and traffic in the order in which they were seen. */
static int by_port_queue(const void *a, const void *b)
{
    const struct dump_port *x = a, *y = b;
    int order = compare(dump_port_queued(y), dump_port_queued(x));

    if (!order)
        order = compare(dump_port_bytes(y), dump_port_bytes(x));
    return order ? order : compare(x->id, y->id);
}

static int by_socket_queue(const void *a, const void *b)
{
    const struct dump_socket *x = a, *y = b;
    int order = compare(dump_socket_queued(y), dump_socket_queued(x));

    return order ? order : (x->fd > y->fd) - (x->fd < y->fd);
}

void dump_ports_sort(struct dump_ports *ports)
{
    if (ports->count)
        qsort(ports->ports, ports->count, sizeof(*ports->ports), by_port_queue);
    if (ports->socket_count)
        qsort(ports->sockets, ports->socket_count, sizeof(*ports->sockets), by_socket_queue);
}
