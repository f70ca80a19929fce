// SPDX-License-Identifier: Apache-2.0
#include "beam/ports.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_info.h"
#include "beam/ptab.h"
#include "beam/term.h"
#include "util/alloc.h"

enum {
    BATCH = 128,
    DRIVERS_MAX = 64,      /* whose names are kept */
    PORT_BYTES_MAX = 1024, /* a Port struct has 560 bytes */
    PORTS_MAX = 1 << 17,   /* that are read: a table can have 2^27 slots */
    INET_HEAD_BYTES = 64,  /* of an inet_descriptor, up to its dport */
    PAGE = 4096,
    NAME_HEAD = 32, /* most names are shorter */
};

struct driver {
    uint64_t address;
    char name[PORT_DRIVER_BYTES];
};

/* The structs that a port points to. */
struct parts {
    char name[NAME_HEAD];
    uint8_t inet[INET_HEAD_BYTES];
    uint64_t octets_in, octets_out;
};
enum { PART_SPANS = 4 };

struct port_reader {
    struct vm *vm;
    struct pid_encoding encoding;
    port_visit visit;
    void *context;
    struct port_counts *counts;
    bool has_ended; /* by the visitor */
    size_t seen;
    struct driver drivers[DRIVERS_MAX];
    size_t driver_count;
    uint64_t indices[BATCH], addresses[BATCH];
    size_t count;
    uint8_t *structs; /* BATCH structs */
    struct parts parts[BATCH];
    struct memory_span spans[BATCH * PART_SPANS];
};

static bool is_known(const struct layout *layout)
{
    const int32_t fields[] = {
        layout->port_id,        layout->port_reg,      layout->port_sched_flags,
        layout->port_connected, layout->port_bytes_in, layout->port_bytes_out,
        layout->port_ioq_size,  layout->port_name,     layout->port_drv_ptr,
        layout->port_drv_data,  layout->port_os_pid,   layout->port_state,
    };

    return layout_rows_fit(fields, sizeof(fields) / sizeof(*fields), layout->sizeof_port) &&
           layout->driver_name >= 0 && layout->sizeof_port <= PORT_BYTES_MAX;
}

/* ---- drivers ---- */

/* Write the name of the driver at this address, "" if it can't be read. */
static void driver_name(struct port_reader *reader, uint64_t address, char name[PORT_DRIVER_BYTES])
{
    struct memory *memory = reader->vm->memory;
    uint64_t text;

    for (size_t i = 0; i < reader->driver_count; i++) {
        if (reader->drivers[i].address == address) {
            memcpy(name, reader->drivers[i].name, PORT_DRIVER_BYTES);
            return;
        }
    }
    if (!address ||
        !memory_read_u64(memory, address + (uint64_t)reader->vm->layout.driver_name, &text) ||
        !text || !memory_read_string(memory, text, name, PORT_DRIVER_BYTES))
        name[0] = '\0';
    if (reader->driver_count < DRIVERS_MAX) {
        struct driver *added = &reader->drivers[reader->driver_count++];

        added->address = address;
        memcpy(added->name, name, PORT_DRIVER_BYTES);
    }
}

static bool has_socket(const char *driver)
{
    return !strcmp(driver, "tcp_inet") || !strcmp(driver, "udp_inet") ||
           !strcmp(driver, "sctp_inet");
}

/* ---- sockets ---- */

static bool knows_sockets(const struct layout *layout)
{
    const int32_t rows[] = {layout->inet_socket, layout->inet_port, layout->inet_dport};

    return layout_rows_fit(rows, sizeof(rows) / sizeof(*rows), INET_HEAD_BYTES);
}

/* Return the descriptor of the inet_descriptor with this head, -1 if it has none. The struct
 * belongs to the port only if it points back to the port. */
static int descriptor_of(const struct layout *layout, const uint8_t *inet, uint64_t address,
                         uint64_t id)
{
    int32_t fd;

    if (layout_word(inet, layout->inet_port) != address ||
        layout_word(inet, layout->inet_dport) != id)
        return -1;
    memcpy(&fd, inet + layout->inet_socket, sizeof(fd));
    return fd < 0 ? -1 : fd;
}

void ports_confirm_descriptors(struct vm *vm, struct port_descriptor *ports, size_t count)
{
    const struct layout *layout = &vm->layout;
    uint64_t data[BATCH];
    uint8_t inet[BATCH][INET_HEAD_BYTES];
    struct memory_span spans[BATCH];

    for (size_t at = 0; at < count; at += BATCH) {
        size_t some = count - at < BATCH ? count - at : BATCH;

        memset(data, 0, sizeof(data));
        for (size_t i = 0; i < some; i++)
            spans[i] = (struct memory_span){ports[at + i].address + (uint64_t)layout->port_drv_data,
                                            &data[i], sizeof(data[i]), false};
        memory_read_spans(vm->memory, spans, some);
        for (size_t i = 0; i < some; i++)
            spans[i] = (struct memory_span){data[i], inet[i], sizeof(inet[i]), false};
        memory_read_spans(vm->memory, spans, some);
        for (size_t i = 0; i < some; i++) {
            struct port_descriptor *port = &ports[at + i];

            if (!spans[i].is_read ||
                descriptor_of(layout, inet[i], port->address, port->id) != port->fd)
                port->fd = -1;
        }
    }
}

static void take_socket(const struct layout *layout, const struct parts *parts,
                        const struct memory_span spans[PART_SPANS], struct port_info *port)
{
    struct port_socket *socket = &port->socket;

    socket->fd = -1;
    if (!spans[1].is_read || !has_socket(port->driver) || !knows_sockets(layout))
        return;
    socket->fd = descriptor_of(layout, parts->inet, port->address, port->id);
    socket->has_traffic = socket->fd >= 0 && spans[2].is_read && spans[3].is_read;
    socket->octets_in = parts->octets_in;
    socket->octets_out = parts->octets_out;
}

/* ---- ports ---- */

/* The bytes up to the end of the page, at most NAME_HEAD: the next page may not be mapped. */
static size_t name_head(uint64_t address)
{
    size_t left = PAGE - address % PAGE;

    return left < NAME_HEAD ? left : NAME_HEAD;
}

/* A span of an address that is not known is not read. */
static struct memory_span part(uint64_t base, int32_t offset, void *buffer, size_t size)
{
    return (struct memory_span){offset < 0 ? 0 : base + (uint64_t)offset, buffer, size, false};
}

static void read_parts(struct port_reader *reader)
{
    const struct layout *layout = &reader->vm->layout;
    size_t size = (size_t)layout->sizeof_port;

    for (size_t i = 0; i < reader->count; i++) {
        const uint8_t *bytes = reader->structs + i * size;
        uint64_t name = layout_word(bytes, layout->port_name);
        uint64_t data = layout_word(bytes, layout->port_drv_data);
        struct parts *parts = &reader->parts[i];
        struct memory_span *spans = &reader->spans[i * PART_SPANS];

        spans[0] = part(name, 0, parts->name, name_head(name));
        spans[1] = part(data, 0, parts->inet, sizeof(parts->inet));
        spans[2] = part(data, layout->inet_recv_oct, &parts->octets_in, sizeof(parts->octets_in));
        spans[3] = part(data, layout->inet_send_oct, &parts->octets_out, sizeof(parts->octets_out));
    }
    memory_read_spans(reader->vm->memory, reader->spans, reader->count * PART_SPANS);
}

static void take_name(struct port_reader *reader, uint64_t address, const struct memory_span *head,
                      char name[PORT_NAME_BYTES])
{
    if (head->is_read && memchr(head->buffer, 0, head->size))
        memcpy(name, head->buffer, head->size);
    else if (!address || !memory_read_string(reader->vm->memory, address, name, PORT_NAME_BYTES))
        name[0] = '\0';
}

static uint64_t registered_name(struct vm *vm, uint64_t reg)
{
    uint64_t name;

    return reg && memory_read_u64(vm->memory, reg + (uint64_t)vm->layout.regproc_name, &name) &&
                   term_is_atom(name)
               ? name
               : 0;
}

/* Fill *port. False if its struct is not a port at this index, or if the port is being opened. */
static bool take_port(struct port_reader *reader, size_t i, struct port_info *port)
{
    const struct layout *layout = &reader->vm->layout;
    const uint8_t *bytes = reader->structs + i * (size_t)layout->sizeof_port;
    const struct memory_span *spans = &reader->spans[i * PART_SPANS];
    uint64_t owner = layout_word(bytes, layout->port_connected);
    int64_t os_pid = (int64_t)layout_word(bytes, layout->port_os_pid);

    *port = (struct port_info){
        .address = reader->addresses[i],
        .id = layout_word(bytes, layout->port_id),
        .owner = term_is_pid(owner) ? owner : 0,
        .registered = registered_name(reader->vm, layout_word(bytes, layout->port_reg)),
        .bytes_in = layout_word(bytes, layout->port_bytes_in),
        .bytes_out = layout_word(bytes, layout->port_bytes_out),
        .queue = layout_word(bytes, layout->port_ioq_size),
        .os_pid = os_pid < 0 ? 0 : os_pid,
        .state = (uint32_t)layout_word(bytes, layout->port_state),
        .tasks = (uint32_t)layout_word(bytes, layout->port_sched_flags),
    };
    if (!pid_encoding_format_port(&reader->encoding, port->id, port->text, sizeof(port->text)) ||
        pid_encoding_index(&reader->encoding, port->id) != reader->indices[i] ||
        port->state & (ERTS_PORT_SFLG_FREE | ERTS_PORT_SFLG_INITIALIZING))
        return false;
    driver_name(reader, layout_word(bytes, layout->port_drv_ptr), port->driver);
    take_name(reader, layout_word(bytes, layout->port_name), &spans[0], port->name);
    take_socket(layout, &reader->parts[i], spans, port);
    return true;
}

/* Read the structs of the batch. Remove ports from the batch whose structs can't be read. */
static void read_structs(struct port_reader *reader)
{
    size_t size = (size_t)reader->vm->layout.sizeof_port, kept = 0;

    for (size_t i = 0; i < reader->count; i++)
        reader->spans[i] =
            (struct memory_span){reader->addresses[i], reader->structs + i * size, size, false};
    memory_read_spans(reader->vm->memory, reader->spans, reader->count);
    for (size_t i = 0; i < reader->count; i++) {
        if (!reader->spans[i].is_read) {
            reader->counts->gone++;
            continue;
        }
        reader->indices[kept] = reader->indices[i];
        reader->addresses[kept] = reader->addresses[i];
        memmove(reader->structs + kept++ * size, reader->structs + i * size, size);
    }
    reader->count = kept;
}

static void finish_batch(struct port_reader *reader)
{
    struct port_info port;

    read_structs(reader);
    read_parts(reader);
    for (size_t i = 0; i < reader->count && !reader->has_ended; i++) {
        if (take_port(reader, i, &port))
            reader->has_ended = !reader->visit(reader->context, &port);
        else
            reader->counts->gone++;
    }
    reader->count = 0;
}

static bool add_port(void *context, uint64_t index, uint64_t address)
{
    struct port_reader *reader = context;

    if (reader->seen++ >= PORTS_MAX) {
        reader->counts->lost++;
        return true;
    }
    reader->indices[reader->count] = index;
    reader->addresses[reader->count++] = address;
    if (reader->count == BATCH)
        finish_batch(reader);
    return !reader->has_ended;
}

int ports_each_address(struct vm *vm, ptab_visit visit, void *context, struct error *error)
{
    return ptab_each(vm, vm->roots.port_table, "port", visit, context, error);
}

int ports_each(struct vm *vm, port_visit visit, void *context, struct port_counts *counts,
               struct error *error)
{
    struct port_reader *reader;
    int result;

    if (!is_known(&vm->layout))
        return error_set(error, ERROR_UNSUPPORTED, "the ports of OTP %d are not known",
                         vm->build.otp_release);
    reader = xcalloc(1, sizeof(*reader));
    reader->vm = vm;
    reader->visit = visit;
    reader->context = context;
    reader->counts = counts;
    reader->structs = xmalloc((size_t)BATCH * (size_t)vm->layout.sizeof_port);
    result = pid_encoding_read_ports(vm, &reader->encoding, error);
    if (!result)
        result = ports_each_address(vm, add_port, reader, error);
    if (!result && !reader->has_ended)
        finish_batch(reader);
    free(reader->structs);
    free(reader);
    return result;
}
