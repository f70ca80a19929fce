// SPDX-License-Identifier: Apache-2.0
#include "output/dump/sections.h"

/* The keys of a socket. */
static void put_socket(struct json *json, const struct profile *profile,
                       const struct dump_socket *socket)
{
    json_number(json, "descriptor", (uint64_t)socket->fd);
    dump_text_json(json, "protocol", profile, socket->protocol);
    dump_text_json(json, "state", profile, socket->state);
    dump_text_json(json, "local", profile, socket->local);
    dump_text_json(json, "peer", profile, socket->peer);
    if (socket->has_queues && socket->is_listening) {
        json_number(json, "to_accept", socket->receive_queue);
    } else if (socket->has_queues) {
        json_number(json, "send_queue", socket->send_queue);
        json_number(json, "receive_queue", socket->receive_queue);
    }
}

static void put_port(struct json *json, const struct profile *profile, const struct dump_port *port)
{
    json_open(json, NULL, '{');
    dump_text_json(json, "id", profile, port->id);
    dump_text_json(json, "name", profile, port->name);
    dump_text_json(json, "driver", profile, port->driver);
    dump_text_json(json, "registered_name", profile, port->registered);
    dump_owner_json(json, profile, port->owner);
    json_number(json, "queue_size", port->queue);
    json_number(json, "input", port->bytes_in);
    json_number(json, "output", port->bytes_out);
    json_number_if(json, "os_pid", port->os_pid);
    json_bool(json, "busy", port->flags & PORT_BUSY);
    json_bool(json, "closing", port->flags & PORT_CLOSING);
    json_bool(json, "distribution", port->flags & PORT_DISTRIBUTION);
    if (port->has_traffic) {
        json_number(json, "recv_oct", port->octets_in);
        json_number(json, "send_oct", port->octets_out);
    }
    if (port->socket.fd >= 0) {
        json_open(json, "socket", '{');
        put_socket(json, profile, &port->socket);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void put_ports(struct json *json, const struct dump *dump)
{
    const struct dump_ports *ports = &dump->ports;

    if (ports->unknown) {
        json_null(json, "ports");
        dump_text_json(json, "ports_unknown", dump->profile, ports->unknown);
        return;
    }
    json_number(json, "ports_gone", ports->gone);
    json_number(json, "ports_lost", ports->lost);
    json_open_lines(json, "ports", '[');
    for (size_t i = 0; i < ports->count; i++)
        put_port(json, dump->profile, &ports->ports[i]);
    json_close(json, ']');
}

static void put_sockets(struct json *json, const struct dump *dump)
{
    const struct dump_ports *ports = &dump->ports;

    if (ports->no_sockets) {
        json_null(json, "sockets");
        dump_text_json(json, "sockets_unknown", dump->profile, ports->no_sockets);
        return;
    }
    json_bool(json, "sockets_cut", ports->is_cut);
    json_open_lines(json, "sockets", '[');
    for (size_t i = 0; i < ports->socket_count; i++) {
        json_open(json, NULL, '{');
        put_socket(json, dump->profile, &ports->sockets[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void dump_ports_json(struct json *json, const struct dump *dump)
{
    put_ports(json, dump);
    put_sockets(json, dump);
}
