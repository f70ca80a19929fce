// SPDX-License-Identifier: Apache-2.0
/* A dump: the Erlang processes, ETS tables, ports and memory of one VM at one moment. `beamflame
 * dump` shows it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"
#include "profile/profile.h"
#include "util/error.h"

/* ---- sections: what `dump --list` selects ---- */

enum dump_section { DUMP_PROCESSES, DUMP_TABLES, DUMP_PORTS, DUMP_MEMORY, DUMP_SECTIONS };

/* A set of sections: 1 << enum dump_section each. */
enum { DUMP_ALL = (1 << DUMP_SECTIONS) - 1 };

/* The sections besides processes. */
enum { DUMP_NODE = DUMP_ALL & ~(1 << DUMP_PROCESSES) };

/* Parse "processes,tables", of which each must be in `allowed`. Return 0, or -1 with ERROR_USAGE.
 */
int dump_sections_parse(const char *text, uint32_t allowed, uint32_t *ret_sections,
                        struct error *error);

/* The names of all sections, or of those in DUMP_NODE: "tables, ports, memory". */
const char *dump_section_names(void);
const char *dump_node_section_names(void);

/* ---- ETS tables ---- */

enum table_type { TABLE_SET, TABLE_ORDERED_SET, TABLE_BAG, TABLE_DUPLICATE_BAG };
enum table_protection { TABLE_PRIVATE, TABLE_PROTECTED, TABLE_PUBLIC };
enum table_concurrency { TABLE_CONCURRENCY_FALSE, TABLE_CONCURRENCY_TRUE, TABLE_CONCURRENCY_AUTO };

/* The facts of ets:info/1 about a table. */
struct table_facts {
    uint64_t objects, bytes; /* 0 unless is_counted */
    uint32_t keypos;
    uint8_t type;              /* enum table_type */
    uint8_t protection;        /* enum table_protection */
    uint8_t write_concurrency; /* enum table_concurrency */
    bool read_concurrency, is_named, is_compressed, is_fixed;
    bool is_counted; /* objects and bytes are known */
};

struct dump_table {
    string_id name;
    string_id reference; /* "#Ref<0.1.2.3>"; 0: not known */
    process_id owner;    /* 0: not known */
    struct table_facts facts;
};

struct dump_tables {
    bool is_known; /* the layout of tables is known */
    struct dump_table *list;
    size_t count, room;
    uint64_t
        deleted;   /* tables that are being deleted, or were deleted meanwhile: not in the list */
    uint64_t lost; /* other tables that are not in the list: they could not be read */
};

/* "set", "public", as ets:new/2 has them. */
const char *dump_table_type_name(enum table_type type);
const char *dump_table_protection_name(enum table_protection protection);

void dump_tables_free(struct dump_tables *tables);
void dump_tables_add(struct dump_tables *tables, const struct dump_table *table);
/* Sort by memory, the largest first. Tables of unknown size come last. */
void dump_tables_sort(struct dump_tables *tables);

/* ---- ports and sockets ---- */

struct dump_socket {
    int fd;             /* descriptor of the OS process; -1: none, or not known */
    string_id protocol; /* "tcp", "unix"...; 0: no address is known */
    string_id state, local, peer;
    bool is_listening;
    bool has_queues;                    /* the next two are known */
    uint64_t send_queue, receive_queue; /* os/sockets.h */
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

/* ---- memory ---- */

/*
 * Where the memory of a VM is, and how full its tables are.
 *
 * An allocator (erts_alloc(3)) serves one kind of memory: heaps, binaries, ETS... It has several
 * instances, one for each scheduler. An instance gets carriers from the operating system. It
 * divides them into blocks, which it gives to the VM. A large block has a carrier of its own. A
 * carrier with few blocks goes to a pool, from which other instances take it.
 */

enum { ALLOCATORS_MAX = 12 };

/* All sizes are bytes. */
struct allocator {
    char name[24]; /* "eheap_alloc" */
    uint32_t instances;
    uint64_t multi;  /* carriers for many blocks, in use by an instance */
    uint64_t single; /* carriers for one block */
    uint64_t pooled; /* carriers for many blocks, in the pool */
    uint64_t blocks; /* blocks in these carriers */
    uint64_t
        allocated; /* blocks that this allocator gave out. It equals `blocks`, unless allocators
                    * share a pool (+M<S>cp): then they can be in carriers of others */
};

/* The enabled allocators, in the VM's order. */
struct allocators {
    struct allocator of[ALLOCATORS_MAX];
    size_t count;
};

/* Entries of a table, as erlang:system_info() counts them. */
struct table_use {
    uint64_t count, limit; /* limit 0: unknown */
};

struct memory_use {
    uint64_t resident;  /* bytes of the OS process in RAM; 0: unknown, as in a core file */
    uint64_t anonymous; /* those that no file and no shared mapping backs, as carriers */
    struct table_use atoms, processes, ports;
    struct allocators allocators; /* none: unknown, and `unknown` says why */
    struct error unknown;
};

/* Return the bytes of all carriers of an allocator. */
uint64_t dump_allocator_carriers(const struct allocator *allocator);

/* Add up allocators. The name of the sum is empty. */
struct allocator dump_allocators_total(const struct allocators *allocators);

/* ---- the dump ---- */

struct dump_process {
    process_id process;
    struct metrics metrics;
    stack_id stack;           /* 0: not known */
    thread_id thread;         /* that runs the process; 0: none */
    trace_span_id trace_span; /* that the process works for; 0: none or unknown */
    uint8_t status;           /* enum process_status */
    uint8_t flags;            /* enum sample_flag */
    int64_t growth;           /* growth of the metric `top` */
};

/* A dump. All zero is an empty one. */
struct dump {
    const struct profile *profile; /* borrowed */
    target_id target;
    uint32_t sections; /* that were requested: 1 << enum dump_section each */
    uint64_t realtime; /* ns since 1970 */
    bool of_core;      /* read from a core file, not from a running VM */
    int signal;        /* the signal that ended the VM; 0: none or unknown */
    process_id
        crashed_process; /* crashed process: ran on the thread that got the signal; 0: none */
    struct dump_process *processes;
    size_t count, room;
    bool is_top;     /* processes were selected by the metric `top`, and are in its order */
    bool has_growth; /* by its growth */
    enum metric top;
    uint64_t left_out; /* processes that were not selected */
    uint64_t gone;     /* processes that started or ended during the read; not in the core file */
    uint64_t torn;     /* processes that ran during each attempt to read them */
    struct dump_tables tables;
    struct memory_use memory;
    struct dump_ports ports;
};

static inline bool dump_has(const struct dump *dump, enum dump_section section)
{
    return dump->sections >> section & 1;
}

/* Compare two processes as qsort() wants it: by the growth or value of `top`, else by message queue
 * and heap, the greatest first. */
int dump_compare_processes(const struct dump *dump, const struct dump_process *a,
                           const struct dump_process *b);

void dump_free(struct dump *dump);
void dump_add(struct dump *dump, const struct dump_process *process);
