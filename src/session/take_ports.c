// SPDX-License-Identifier: Apache-2.0
#include "session/dump_take.h"

#include <stdlib.h>

#include "beam/atom.h"
#include "beam/ports.h"
#include "os/sockets.h"
#include "util/alloc.h"
#include "util/clock.h"

struct port_taker {
    struct symbolizer *symbolizer;
    struct profile *profile;
    struct dump_ports *ports;
    struct atoms *atoms;
    struct port_descriptor *descriptors; /* of ports->ports[place] */
    size_t descriptor_count, descriptor_room;
};

static string_id text_or_none(struct profile *profile, const char *text)
{
    return text && text[0] ? profile_string_z(profile, text) : 0;
}

static uint8_t flags_of(const struct port_info *port)
{
    uint8_t flags = 0;

    if (port->tasks & (ERTS_PTS_FLG_BUSY_PORT | ERTS_PTS_FLG_BUSY_PORT_Q))
        flags |= PORT_BUSY;
    if (port->state & (ERTS_PORT_SFLG_CLOSING | ERTS_PORT_SFLG_EXITING))
        flags |= PORT_CLOSING;
    if (port->state & ERTS_PORT_SFLG_DISTRIBUTION)
        flags |= PORT_DISTRIBUTION;
    return flags;
}

static void add_descriptor(struct port_taker *taker, const struct port_info *port, size_t place)
{
    taker->descriptors = xgrow(taker->descriptors, &taker->descriptor_room, taker->descriptor_count,
                               sizeof(*taker->descriptors));
    taker->descriptors[taker->descriptor_count++] =
        (struct port_descriptor){port->address, port->id, port->socket.fd, place};
}

static bool add_port(void *context, const struct port_info *port)
{
    struct port_taker *taker = context;
    struct dump_ports *ports = taker->ports;
    struct profile *profile = taker->profile;

    ports->ports = xgrow(ports->ports, &ports->room, ports->count, sizeof(*ports->ports));
    if (port->socket.fd >= 0)
        add_descriptor(taker, port, ports->count);
    ports->ports[ports->count++] = (struct dump_port){
        .id = profile_string_z(profile, port->text),
        .name = text_or_none(profile, port->name),
        .driver = text_or_none(profile, port->driver),
        .registered = text_or_none(profile, atom_text(taker->atoms, port->registered)),
        .owner = port->owner
                     ? symbolizer_process(taker->symbolizer, port->owner, clock_ns(CLOCK_MONOTONIC))
                     : 0,
        .bytes_in = port->bytes_in,
        .bytes_out = port->bytes_out,
        .queue = port->queue,
        .os_pid = (uint64_t)port->os_pid,
        .flags = flags_of(port),
        .socket = {.fd = -1},
        .has_traffic = port->socket.has_traffic,
        .octets_in = port->socket.octets_in,
        .octets_out = port->socket.octets_out,
    };
    return true;
}

/* ---- sockets ---- */

static struct dump_socket socket_of(struct profile *profile, const struct socket *socket)
{
    return (struct dump_socket){
        .fd = socket->fd,
        .protocol = text_or_none(profile, socket->protocol),
        .state = text_or_none(profile, socket->state),
        .local = text_or_none(profile, socket->local),
        .peer = text_or_none(profile, socket->peer),
        .is_listening = socket->is_listening,
        .has_queues = socket->has_queues,
        .send_queue = socket->send_queue,
        .receive_queue = socket->receive_queue,
    };
}

/* Give each port its socket, and list the others. */
static void join(struct port_taker *taker, const struct sockets *sockets)
{
    struct dump_ports *ports = taker->ports;
    bool *has_port = xcalloc(sockets->count + 1, sizeof(*has_port));

    for (size_t i = 0; i < taker->descriptor_count; i++) {
        const struct port_descriptor *port = &taker->descriptors[i];
        const struct socket *socket = port->fd < 0 ? NULL : sockets_find(sockets, port->fd);

        if (!socket)
            continue;
        has_port[socket - sockets->list] = true;
        ports->ports[port->place].socket = socket_of(taker->profile, socket);
    }
    for (size_t i = 0; i < sockets->count; i++) {
        if (has_port[i])
            continue;
        ports->sockets = xgrow(ports->sockets, &ports->socket_room, ports->socket_count,
                               sizeof(*ports->sockets));
        ports->sockets[ports->socket_count++] = socket_of(taker->profile, &sockets->list[i]);
    }
    free(has_port);
}

static void take_sockets(struct port_taker *taker, struct vm *vm)
{
    struct dump_ports *ports = taker->ports;
    struct sockets sockets;
    struct error error;

    if (vm->core) {
        ports->no_sockets =
            profile_string_z(taker->profile, "a core file does not have the sockets");
        return;
    }
    if (sockets_read(vm->pid, &sockets, &error)) {
        ports->no_sockets = profile_string_z(taker->profile, error.text);
        return;
    }
    ports->is_cut = sockets.is_cut;
    ports_confirm_descriptors(vm, taker->descriptors, taker->descriptor_count);
    join(taker, &sockets);
    sockets_free(&sockets);
}

void take_ports(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                struct dump_ports *ports)
{
    struct port_taker taker = {
        .symbolizer = symbolizer, .profile = profile, .ports = ports, .atoms = atoms_new(vm)};
    struct port_counts counts = {0};
    struct error error;

    if (ports_each(vm, add_port, &taker, &counts, &error))
        ports->unknown = profile_string_z(profile, error.text);
    ports->gone = counts.gone;
    ports->lost = counts.lost;
    take_sockets(&taker, vm);
    dump_ports_sort(ports);
    atoms_free(taker.atoms);
    free(taker.descriptors);
}
