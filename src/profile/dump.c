// SPDX-License-Identifier: Apache-2.0
#include "profile/dump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/word_list.h"

/* ---- sections ---- */

enum { NAMES_BYTES = 80 };

static const char *const section_names[DUMP_SECTIONS] = {
    [DUMP_PROCESSES] = "processes",
    [DUMP_TABLES] = "tables",
    [DUMP_MEMORY] = "memory",
    [DUMP_PORTS] = "ports",
};

/* List the names of the sections in `list`, which has NAMES_BYTES. */
static const char *list_names(uint32_t sections, char *list)
{
    if (!list[0])
        for (int section = 0; section < DUMP_SECTIONS; section++)
            if (sections >> section & 1)
                word_list_add(list, NAMES_BYTES, section_names[section]);
    return list;
}

const char *dump_section_names(void)
{
    static char list[NAMES_BYTES];

    return list_names(DUMP_ALL, list);
}

const char *dump_node_section_names(void)
{
    static char list[NAMES_BYTES];

    return list_names(DUMP_NODE, list);
}

/* The section in `allowed` that the first `size` bytes of `text` name; DUMP_SECTIONS if there is
 * none. */
static int section_named(const char *text, size_t size, uint32_t allowed)
{
    int section = 0;

    while (section < DUMP_SECTIONS &&
           (!(allowed >> section & 1) || strlen(section_names[section]) != size ||
            strncmp(section_names[section], text, size) != 0))
        section++;
    return section;
}

int dump_sections_parse(const char *text, uint32_t allowed, uint32_t *ret_sections,
                        struct error *error)
{
    char listed[NAMES_BYTES] = "";
    uint32_t sections = 0;
    bool more = true;

    while (more) {
        size_t size = strcspn(text, ",");
        int section = section_named(text, size, allowed);

        more = text[size];
        if (section == DUMP_SECTIONS)
            return error_set(error, ERROR_USAGE,
                             "there is no section '%.*s'; separate by commas: %s", (int)size, text,
                             list_names(allowed, listed));
        sections |= 1U << section;
        text += size + more;
    }
    *ret_sections = sections;
    return 0;
}

/* ---- tables ---- */

const char *dump_table_type_name(enum table_type type)
{
    static const char *const names[] = {
        [TABLE_SET] = "set",
        [TABLE_ORDERED_SET] = "ordered_set",
        [TABLE_BAG] = "bag",
        [TABLE_DUPLICATE_BAG] = "duplicate_bag",
    };

    return names[type];
}

const char *dump_table_protection_name(enum table_protection protection)
{
    static const char *const names[] = {
        [TABLE_PRIVATE] = "private",
        [TABLE_PROTECTED] = "protected",
        [TABLE_PUBLIC] = "public",
    };

    return names[protection];
}

void dump_tables_free(struct dump_tables *tables)
{
    free(tables->list);
    *tables = (struct dump_tables){0};
}

void dump_tables_add(struct dump_tables *tables, const struct dump_table *table)
{
    tables->list = xgrow(tables->list, &tables->room, tables->count, sizeof(*tables->list));
    tables->list[tables->count++] = *table;
}

/* By memory; tables of equal memory by name and reference, in the order in which these were seen.
 */
static int by_memory(const void *a, const void *b)
{
    const struct dump_table *x = a, *y = b;

    if (x->facts.is_counted != y->facts.is_counted)
        return x->facts.is_counted ? -1 : 1;
    if (x->facts.bytes != y->facts.bytes)
        return x->facts.bytes > y->facts.bytes ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->reference > y->reference) - (x->reference < y->reference);
}

void dump_tables_sort(struct dump_tables *tables)
{
    if (tables->count)
        qsort(tables->list, tables->count, sizeof(*tables->list), by_memory);
}

/* ---- ports ---- */

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

/* ---- memory ---- */

uint64_t dump_allocator_carriers(const struct allocator *allocator)
{
    return allocator->multi + allocator->single + allocator->pooled;
}

struct allocator dump_allocators_total(const struct allocators *allocators)
{
    struct allocator total = {.name = ""};

    for (size_t i = 0; i < allocators->count; i++) {
        const struct allocator *one = &allocators->of[i];

        total.instances += one->instances;
        total.multi += one->multi;
        total.single += one->single;
        total.pooled += one->pooled;
        total.blocks += one->blocks;
        total.allocated += one->allocated;
    }
    return total;
}

/* ---- the dump ---- */

void dump_free(struct dump *dump)
{
    free(dump->processes);
    dump_tables_free(&dump->tables);
    dump_ports_free(&dump->ports);
    *dump = (struct dump){0};
}

void dump_add(struct dump *dump, const struct dump_process *process)
{
    dump->processes = xgrow(dump->processes, &dump->room, dump->count, sizeof(*dump->processes));
    dump->processes[dump->count++] = *process;
}

static int greater_first(uint64_t a, uint64_t b)
{
    return (b > a) - (b < a);
}

int dump_compare_processes(const struct dump *dump, const struct dump_process *a,
                           const struct dump_process *b)
{
    const uint64_t *one = a->metrics.values, *other = b->metrics.values;
    int order = (b->growth > a->growth) - (b->growth < a->growth);

    if (!order && dump->is_top && !dump->has_growth)
        order = greater_first(one[dump->top], other[dump->top]);
    if (!order)
        order = greater_first(one[METRIC_MSGQ], other[METRIC_MSGQ]);
    if (!order)
        order = greater_first(one[METRIC_HEAP], other[METRIC_HEAP]);
    return order;
}
