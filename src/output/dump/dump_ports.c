// SPDX-License-Identifier: Apache-2.0
#include "output/dump/writers.h"

#include <string.h>

#include "beam/erlang_escape.h"
#include "output/number_text.h"
#include "output/summary/summary_text.h"

enum { ROWS_SHOWN = 20 };

/* ---- rows ---- */

static void write_bytes(FILE *file, const char *what, uint64_t bytes)
{
    fprintf(file, "  %s %s", what, number_text_amount(bytes, UNIT_BYTES).text);
}

static void write_queue(FILE *file, const char *what, uint64_t bytes)
{
    if (bytes)
        write_bytes(file, what, bytes);
}

static void write_owner(FILE *file, const struct profile *profile, process_id owner)
{
    struct buffer text = {0};

    if (!owner)
        return;
    summary_text_of_process(profile, owner, &text);
    fprintf(file, "  %.*s", (int)text.size, text.data);
    buffer_free(&text);
}

/* Write a text that the VM chose as an atom, in quotes unless it is a plain one. So it can't look
 * like another field. */
static void write_quoted(FILE *file, const char *before, const char *text)
{
    struct buffer quoted = {0};

    erlang_escape_atom(&quoted, text);
    fprintf(file, "%s%.*s", before, (int)quoted.size, quoted.data);
    buffer_free(&quoted);
}

static void write_port(FILE *file, const struct profile *profile, const struct dump_port *port)
{
    fprintf(file, "  %-14s %s", profile_text(profile, port->id),
            profile_text(profile, port->driver));
    if (port->name && port->name != port->driver)
        write_quoted(file, " ", profile_text(profile, port->name));
    if (port->registered)
        write_quoted(file, " registered as ", profile_text(profile, port->registered));
    write_owner(file, profile, port->owner);
    write_queue(file, "queue", port->queue);
    write_bytes(file, "in", port->has_traffic ? port->octets_in : port->bytes_in);
    write_bytes(file, "out", port->has_traffic ? port->octets_out : port->bytes_out);
    if (port->os_pid)
        fprintf(file, "  OS process %llu", (unsigned long long)port->os_pid);
    if (port->flags & PORT_BUSY)
        fprintf(file, "  busy");
    if (port->flags & PORT_CLOSING)
        fprintf(file, "  closing");
    if (port->flags & PORT_DISTRIBUTION)
        fprintf(file, "  distribution");
}

static void write_socket(FILE *file, const struct profile *profile,
                         const struct dump_socket *socket)
{
    const char *protocol = profile_text(profile, socket->protocol);

    fprintf(file, "  %s %s", protocol, profile_text(profile, socket->state));
    if (socket->local && !strcmp(protocol, "unix"))
        write_quoted(file, " ", profile_text(profile, socket->local));
    else if (socket->local)
        fprintf(file, " %s", profile_text(profile, socket->local));
    if (socket->peer)
        fprintf(file, " to %s", profile_text(profile, socket->peer));
    if (socket->has_queues && socket->is_listening) {
        fprintf(file, "  %s to accept", number_text(socket->receive_queue).text);
    } else if (socket->has_queues) {
        write_queue(file, "to send", socket->send_queue);
        write_queue(file, "to receive", socket->receive_queue);
    }
}

static void write_port_row(FILE *file, const struct profile *profile, const struct dump_port *port)
{
    write_port(file, profile, port);
    if (port->socket.protocol)
        write_socket(file, profile, &port->socket);
    putc('\n', file);
}

static void write_socket_row(FILE *file, const struct profile *profile,
                             const struct dump_socket *socket)
{
    fprintf(file, "  %-14s descriptor %d", "no port", socket->fd);
    if (socket->protocol)
        write_socket(file, profile, socket);
    putc('\n', file);
}

/* Merge the first rows of both sorted lists, and write them in the order of queued bytes. */
static void write_rows(FILE *file, const struct profile *profile, const struct dump_ports *ports)
{
    size_t port = 0, socket = 0;

    while (port + socket < ROWS_SHOWN) {
        bool has_port = port < ports->count, has_socket = socket < ports->socket_count;

        if (has_port && (!has_socket || dump_port_queued(&ports->ports[port]) >=
                                            dump_socket_queued(&ports->sockets[socket])))
            write_port_row(file, profile, &ports->ports[port++]);
        else if (has_socket)
            write_socket_row(file, profile, &ports->sockets[socket++]);
        else
            return;
    }
}

/* ---- the head ---- */

struct totals {
    uint64_t in_ports, to_send, to_receive; /* bytes */
};

static void add_socket(struct totals *totals, const struct dump_socket *socket)
{
    if (!socket->has_queues || socket->is_listening)
        return;
    totals->to_send += socket->send_queue;
    totals->to_receive += socket->receive_queue;
}

static struct number_text count_text(size_t count, string_id unknown)
{
    struct number_text text = {"?"};

    if (!unknown)
        text = number_text(count);
    return text;
}

static void write_totals(FILE *file, const struct dump_ports *ports)
{
    struct totals totals = {0};

    for (size_t i = 0; i < ports->count; i++) {
        totals.in_ports += ports->ports[i].queue;
        add_socket(&totals, &ports->ports[i].socket);
    }
    for (size_t i = 0; i < ports->socket_count; i++)
        add_socket(&totals, &ports->sockets[i]);
    fprintf(file, "%s ports, %s sockets without a port; queued: ",
            count_text(ports->count, ports->unknown).text,
            count_text(ports->socket_count, ports->no_sockets).text);
    fprintf(file, "%s in ports, ", number_text_amount(totals.in_ports, UNIT_BYTES).text);
    fprintf(file, "%s to send, ", number_text_amount(totals.to_send, UNIT_BYTES).text);
    fprintf(file, "%s to receive", number_text_amount(totals.to_receive, UNIT_BYTES).text);
    if (ports->count + ports->socket_count > ROWS_SHOWN)
        fprintf(file, "; the %d largest queues:", ROWS_SHOWN);
    putc('\n', file);
}

static void write_unknown(FILE *file, const struct profile *profile, const char *what,
                          string_id why)
{
    if (why)
        fprintf(file, "%s are not known: %s\n", what, profile_text(profile, why));
}

void dump_ports_text(FILE *file, const struct dump *dump)
{
    const struct dump_ports *ports = &dump->ports;

    write_totals(file, ports);
    write_unknown(file, dump->profile, "ports", ports->unknown);
    write_unknown(file, dump->profile, "sockets", ports->no_sockets);
    if (ports->gone)
        fprintf(file, "%s ports %s\n", number_text(ports->gone).text,
                dump->of_core ? "are not in the core" : "started or ended meanwhile");
    if (ports->lost)
        fprintf(file, "%s other ports were not read: there are too many\n",
                number_text(ports->lost).text);
    if (ports->is_cut)
        fprintf(file, "the list of sockets is cut: there are too many\n");
    write_rows(file, dump->profile, ports);
}

/* ---- JSON ---- */

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
