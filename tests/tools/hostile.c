// SPDX-License-Identifier: Apache-2.0
/*
 * hostile PID LIE: write a lie into the memory of a stopped node of tests/loads/hostile.erl, as a
 * hostile user would into a program that looks like a VM. `hostile` alone lists the lies. The lies
 * are put into the largest area of zeros that the node has.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/atom.h"
#include "beam/gdb_jit.h"
#include "beam/process_table.h"
#include "beam/term.h"
#include "beam/vm.h"
#include "vm_constants.h"

enum { PROCESSES_MAX = 4096, NODE_BYTES = 512 };

static struct vm *vm;
static int memory_fd;
static uint64_t room, room_end; /* zeros that are free */
static uint64_t held;           /* pages that nobody fills; 0: there are none */
static uint64_t processes[PROCESSES_MAX];
static size_t process_count;

static void fail(const char *what)
{
    fprintf(stderr, "hostile: %s\n", what);
    exit(1);
}

static void put(uint64_t address, const void *bytes, size_t size)
{
    if (pwrite(memory_fd, bytes, size, (off_t)address) != (ssize_t)size)
        fail("the node's memory can't be written");
}

static void put_u64(uint64_t address, uint64_t value)
{
    put(address, &value, sizeof(value));
}

static void put_u32(uint64_t address, uint32_t value)
{
    put(address, &value, sizeof(value));
}

static uint64_t take_room(size_t size)
{
    uint64_t at = room;

    room += (size + 63) / 64 * 64;
    if (room > room_end)
        fail("the node has too little room");
    return at;
}

static void find_room(pid_t pid)
{
    enum { MARGIN = 1 << 20 }; /* for the header of the binary */
    uint64_t largest = 200 << 20;
    char path[32], line[512];
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        uint64_t start, end;
        char access[5];

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, access) == 3 &&
            !strcmp(access, "rw-p") && end - start > largest) {
            largest = end - start;
            room = start + MARGIN;
            room_end = end - MARGIN;
        }
    }
    if (maps)
        fclose(maps);
    if (!room)
        fail("the node has no room: is it of tests/loads/hostile.erl?");
}

/* Find the pages of hostile_nif:hold_back/1, which have the flag "um" in smaps (proc(5)), or those
 * of hostile_nif:map_file/1. */
static void find_held(pid_t pid)
{
    char path[32], line[512], access[5];
    uint64_t start = 0, from, to;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, access) == 3)
            start = from;
        if (strstr(line, "/stalling\n") || (!strncmp(line, "VmFlags:", 8) && strstr(line, " um")))
            held = start;
    }
    if (maps)
        fclose(maps);
}

static uint64_t held_page(void)
{
    if (!held)
        fail("the node holds back no pages");
    return held;
}

static bool note_process(void *context, uint64_t index, uint64_t address)
{
    (void)context;
    (void)index;
    processes[process_count++] = address;
    return process_count < PROCESSES_MAX;
}

static uint64_t atom_of(const char *wanted)
{
    char text[1024];

    for (uint64_t i = 0; i < 1 << 16; i++)
        if (atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, i, text, sizeof(text)) &&
            !strcmp(text, wanted))
            return i << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM;
    fail("there is no such atom");
    return 0;
}

/* ---- terms ---- */

static uint64_t words(const uint64_t *values, size_t count)
{
    uint64_t at = take_room(count * sizeof(*values));

    put(at, values, count * sizeof(*values));
    return at;
}

static uint64_t boxed(uint64_t address)
{
    return address | TAG_PRIMARY_BOXED;
}

static uint64_t pair(uint64_t key, uint64_t value)
{
    const uint64_t tuple[] = {2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG, key, value};

    return boxed(words(tuple, 3));
}

/* A list of one element that ends with itself. */
static uint64_t ring(uint64_t element)
{
    uint64_t cell = take_room(16), list = cell | TAG_PRIMARY_LIST;

    put_u64(cell, element);
    put_u64(cell + 8, list);
    return list;
}

static void of_processes(int32_t field, uint64_t value)
{
    if (field < 0)
        fail("this release has no such field");
    for (size_t i = 0; i < process_count; i++)
        put_u64(processes[i] + (uint64_t)field, value);
}

/* ---- lies about processes ---- */

static void give_dictionary(uint64_t slot)
{
    uint64_t dictionary = take_room(64 + 8192 * 8);

    put_u32(dictionary + (uint64_t)vm->layout.procdict_used, UINT32_MAX);
    for (uint64_t i = 0; i < 8192; i++)
        put_u64(dictionary + (uint64_t)vm->layout.procdict_data + i * 8, slot);
    of_processes(vm->layout.process_dictionary, dictionary);
}

static void lie_ancestors(void)
{
    give_dictionary(ring(pair(atom_of("$ancestors"), ring(15))));
}

static void lie_dictionary(void)
{
    give_dictionary(ring(pair(15, 15)));
}

/* A tuple of 2^50 elements, the first of which is the tuple. */
static void lie_label(void)
{
    uint64_t tuple = take_room(16);

    put_u64(tuple, (uint64_t)1 << 56 | ARITYVAL_SUBTAG);
    put_u64(tuple + 8, boxed(tuple));
    give_dictionary(pair(atom_of("$initial_call"), boxed(tuple)));
}

static void lie_links(void)
{
    uint64_t count = 200000, nodes = take_room(count * NODE_BYTES);

    for (uint64_t i = 0; i + 1 < count; i++) {
        uint64_t node = nodes + i * NODE_BYTES;

        put_u64(node + (uint64_t)vm->layout.relation_left, node + NODE_BYTES);
        put_u64(node + NODE_BYTES + (uint64_t)vm->layout.relation_parent, node);
    }
    of_processes(vm->layout.process_links, nodes);
}

/* A ring that never comes back to its first node. */
static void lie_monitors(void)
{
    uint64_t first = take_room(NODE_BYTES), second = take_room(NODE_BYTES);

    put_u64(first + (uint64_t)vm->layout.relation_next, second);
    put_u64(second + (uint64_t)vm->layout.relation_next, second);
    put_u64(second + (uint64_t)vm->layout.relation_prev, second);
    of_processes(vm->layout.process_lt_monitors, first);
}

static void lie_messages(void)
{
    uint64_t message = take_room(256);

    put_u64(message + (uint64_t)vm->layout.message_next, message);
    put_u64(message + (uint64_t)vm->layout.message_m, 15);
    of_processes(vm->layout.process_msgq_first, message);
}

static void lie_fragments(void)
{
    uint64_t fragment = take_room(256);

    put_u64(fragment + (uint64_t)vm->layout.heap_fragment_next, fragment);
    of_processes(vm->layout.process_mbuf, fragment);
}

static void lie_binaries(void)
{
    uint64_t binary = take_room(64);

    put_u64(binary, 5 << HEADER_ARITY_OFFS | REFC_BINARY_SUBTAG);
    put_u64(binary + (uint64_t)vm->layout.off_heap_next, binary);
    of_processes(vm->layout.process_off_heap_first, binary);
}

/* Stacks of 2^40 bytes. */
static void lie_stacks(void)
{
    of_processes(vm->layout.process_stop, room);
    of_processes(vm->layout.process_hend, room + ((uint64_t)1 << 40));
}

/* The table of processes has `max` places. */
static void set_table(uint64_t places, uint32_t max, uint32_t count)
{
    uint64_t table = vm->roots.proc_table;

    put_u64(table + (uint64_t)vm->layout.ptab_tab, places);
    put_u32(table + (uint64_t)vm->layout.ptab_max, max);
    put_u32(table + (uint64_t)vm->layout.ptab_pix_mask, max - 1);
    put_u32(table + (uint64_t)vm->layout.ptab_count, count);
}

/* 131,072 processes. */
static void lie_processes(void)
{
    uint64_t size = (uint64_t)vm->layout.sizeof_process, count = 1 << 17;
    uint64_t table = take_room(count * 8), all = take_room(count * size);
    uint8_t process[4096];

    if (!memory_read(vm->memory, processes[0], process, size))
        fail("a process can't be read");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = vm->features.wide_pids ? i << 4 | 3 : i << 32 | i << 4 | 3;

        memcpy(process + vm->layout.process_id, &id, sizeof(id));
        put(all + i * size, process, size);
        put_u64(table + i * 8, all + i * size);
    }
    set_table(table, (uint32_t)count, (uint32_t)count);
}

/* A table that says it has 16 million processes, all of which are the same. */
static void lie_table(void)
{
    uint32_t max = 1 << 24;
    uint64_t places[1024], table = take_room(max * sizeof(*places));

    for (size_t i = 0; i < 1024; i++)
        places[i] = processes[0];
    for (uint64_t at = 0; at < max; at += 1024)
        put(table + at * sizeof(*places), places, sizeof(places));
    set_table(table, max, max);
}

/* Each scheduler has the same 262,144 ETS tables, each with an owner and an identifier of its own,
 * and counters that are being moved. The list never comes back to its first table. */
static void lie_ets(void)
{
    enum { TABLE = 384, IDENTIFIER = 304 };
    const struct layout *layout = &vm->layout;
    uint64_t count = 1 << 18, tables = take_room(count * TABLE), before = tables;
    int32_t lists =
        layout->sched_ets_tables >= 0 ? layout->sched_ets_tables : layout->sched_ets_tables_25;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t table = tables + i * TABLE, owner = vm->features.wide_pids ? i : i << 28;

        put_u64(table + (uint64_t)layout->table_next, table + TABLE);
        put_u64(table + (uint64_t)layout->table_prev, before);
        put_u64(table + (uint64_t)layout->table_name, TAG_IMMED2_ATOM);
        put_u64(table + (uint64_t)layout->table_owner, owner << 4 | TAG_IMMED1_PID);
        put_u32(table + (uint64_t)layout->table_status, DB_SET | DB_PUBLIC | DB_FINE_LOCKED);
        put_u32(table + (uint64_t)layout->table_keypos, 1);
        put_u32(table + (uint64_t)layout->table_counter_count, 2);
        put_u32(table + (uint64_t)layout->table_is_decentralized, 1);
        put_u64(table + (uint64_t)layout->table_counters, table);
        put_u64(table + (uint64_t)layout->table_identifier, table + IDENTIFIER);
        put_u32(table + IDENTIFIER + (uint64_t)layout->magic_binary_numbers, (uint32_t)i);
        put_u32(table + IDENTIFIER + (uint64_t)layout->magic_binary_numbers + 4,
                ERTS_REF1_MAGIC_MARKER_BIT | 1);
        before = table;
    }
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        uint64_t at = vm->schedulers[i].data + (uint64_t)lists;

        if (vm->schedulers[i].type != VM_SCHEDULER_NORMAL)
            continue;
        put_u64(at + (uint64_t)layout->ets_tables_count, UINT64_MAX);
        put_u64(at + (uint64_t)layout->ets_tables_list, tables);
    }
}

/* Each allocator has as many instances as one can have, all in the same place. */
static void lie_allocators(void)
{
    enum { INSTANCES = ERTS_AU_MAX_PREF_ALLOC_INSTANCES, INSTANCE = 4096 };
    const struct layout *layout = &vm->layout;
    uint64_t prefix = take_room(8);

    put(prefix, "x_", 2);
    for (uint32_t number = 2; number <= ERTS_ALC_A_COUNT; number++) {
        uint64_t own = take_room(INSTANCES * sizeof(uint64_t)), instance = take_room(INSTANCE);
        const uint32_t specific[] = {1, 0, number, INSTANCES}, info[] = {1, 1, INSTANCES, 0};
        uint64_t extra = take_room(24), at = vm->roots.allocators + number * 24;

        for (uint64_t i = 0; i < INSTANCES; i++)
            put_u64(own + i * sizeof(uint64_t), instance);
        put_u32(instance + (uint64_t)layout->allocator_number, number);
        put_u64(instance + (uint64_t)layout->allocator_name_prefix, prefix);
        put_u64(instance + (uint64_t)layout->allocator_pool_carriers, 1 << 30);
        put(extra, specific, sizeof(specific));
        put_u64(extra + 16, own);
        put(at, info, sizeof(info));
        put_u64(at + 16, extra);
    }
}

/* 8 million places for ports. 131,072 ports have a name and an owner of their own, and say that
 * they have a socket; the others are the first of these. */
static void lie_ports(void)
{
    enum { NAME = 300, DRIVER = 64 };
    const struct layout *layout = &vm->layout;
    uint64_t size = (uint64_t)layout->sizeof_port, count = 1 << 17, max = 1 << 23;
    uint64_t places[1024], ports = take_room(count * size), table = take_room(max * 8),
                           driver = take_room(DRIVER);
    uint64_t names = take_room(count + NAME), root = vm->roots.port_table;

    put(driver + 32, "tcp_inet", 9);
    put_u64(driver + (uint64_t)layout->driver_name, driver + 32);
    for (uint64_t i = 0; i < count + NAME; i += 8)
        put_u64(names + i, i * 0x9e3779b97f4a7c15 | 0x0101010101010101);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t port = ports + i * size, id = vm->features.wide_pids ? i << 4 : i << 32 | i << 4;

        put_u64(port + (uint64_t)layout->port_id, id | TAG_IMMED1_PORT);
        put_u64(port + (uint64_t)layout->port_connected, id | TAG_IMMED1_PID);
        put_u64(port + (uint64_t)layout->port_name, names + i);
        put_u64(port + (uint64_t)layout->port_drv_ptr, driver);
        put_u64(port + (uint64_t)layout->port_drv_data, port);
        put_u64(port + (uint64_t)layout->port_ioq_size, UINT64_MAX);
    }
    for (uint64_t at = 0; at < max; at += 1024) {
        for (uint64_t i = 0; i < 1024; i++)
            places[i] = ports + (at < count ? at + i : 0) * size;
        put(table + at * sizeof(*places), places, sizeof(places));
    }
    put_u64(root + (uint64_t)layout->ptab_tab, table);
    put_u32(root + (uint64_t)layout->ptab_max, (uint32_t)max);
    put_u32(root + (uint64_t)layout->ptab_pix_mask, (uint32_t)max - 1);
}

/* ---- lies about atoms ---- */

/* All names are as long as a length can be. */
static void lie_atoms(void)
{
    uint64_t table = vm->roots.atom_table, segments, segment, atom;
    uint16_t length = INT16_MAX;

    if (!memory_read_u64(vm->memory, table + (uint64_t)vm->layout.index_seg_table, &segments) ||
        !memory_read_u64(vm->memory, segments, &segment))
        fail("atoms can't be read");
    put_u32(table + (uint64_t)vm->layout.index_size, UINT32_MAX / 1024 * 1024);
    put_u32(table + (uint64_t)vm->layout.index_entries, UINT32_MAX / 1024 * 1024);
    for (uint64_t i = 300; i < 1024; i++)
        if (memory_read_u64(vm->memory, segment + i * 8, &atom) && atom)
            put(atom + (uint64_t)vm->layout.atom_len, &length, sizeof(length));
}

static uint64_t name_address(uint64_t atom)
{
    struct term_bytes bytes;
    uint64_t name;

    if (vm->layout.atom_name >= 0)
        return memory_read_u64(vm->memory, atom + (uint64_t)vm->layout.atom_name, &name) ? name : 0;
    return memory_read_u64(vm->memory, atom + (uint64_t)vm->layout.atom_bin, &name) &&
                   term_binary(vm->memory, &vm->layout, true, term_address(name), &bytes)
               ? bytes.address
               : 0;
}

/* All names that the node has made itself, of modules, functions, applications and the node,
 * begin with what changes a terminal. */
static void lie_names(void)
{
    enum { MADE_BY_THE_VM = 1200 };
    static const char escape[] = "\x1b[31m\xe2\x80\xae";
    uint64_t table = vm->roots.atom_table, segments, segment, atom, name;
    uint16_t length;
    uint32_t count;

    if (!memory_read_u64(vm->memory, table + (uint64_t)vm->layout.index_seg_table, &segments) ||
        !memory_read_u32(vm->memory, table + (uint64_t)vm->layout.index_entries, &count))
        fail("atoms can't be read");
    for (uint64_t i = MADE_BY_THE_VM; i < count; i++)
        if (memory_read_u64(vm->memory, segments + i / 1024 * 8, &segment) &&
            memory_read_u64(vm->memory, segment + i % 1024 * 8, &atom) &&
            memory_read(vm->memory, atom + (uint64_t)vm->layout.atom_len, &length,
                        sizeof(length)) &&
            length >= sizeof(escape) && (name = name_address(atom)))
            put(name, escape, sizeof(escape) - 1);
}

/* ---- lies that change ---- */

/* Change stacks, where they begin, and the names of processes, until this program is killed. */
static void lie_changing(void)
{
    static uint64_t ends[PROCESSES_MAX];

    for (size_t i = 0; i < process_count; i++)
        if (!memory_read_u64(vm->memory, processes[i] + (uint64_t)vm->layout.process_hend,
                             &ends[i]))
            fail("a process can't be read");
    puts("changing");
    fflush(stdout);
    for (uint64_t i = 0;; i++) {
        size_t at = i % process_count;
        uint64_t random = i * 0x9e3779b97f4a7c15, stop = ends[at] - (random >> 58) * 8;

        put_u64(processes[at] + (uint64_t)vm->layout.process_stop, stop);
        put_u64(stop, random);
        put_u64(processes[at] + (uint64_t)vm->layout.process_dictionary, random);
    }
}

/* ---- lies about code ---- */

static uint64_t descriptor(void)
{
    return vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY;
}

/* Put an entry before `next`. */
static uint64_t put_entry(uint64_t next, uint64_t symfile, uint64_t size)
{
    const uint64_t entry[] = {next, 0, symfile, size};
    uint64_t at = words(entry, 4);

    if (next && next != held)
        put_u64(next + 8, at);
    return at;
}

static uint64_t first_entry(void)
{
    uint64_t first;

    if (!memory_read_u64(vm->memory, descriptor(), &first))
        fail("the list of code can't be read");
    return first;
}

/* A symbol file of one module: kind, base, ranges, size of the code, name. */
static uint64_t symbol_file(uint64_t base, uint32_t ranges)
{
    uint8_t bytes[48] = {1};

    memcpy(bytes + 8, &base, sizeof(base));
    memcpy(bytes + 16, &ranges, sizeof(ranges));
    bytes[20] = 64;
    bytes[24] = 2; /* size of the name, "m" */
    bytes[26] = 'm';
    return words((const uint64_t *)(void *)bytes, sizeof(bytes) / 8);
}

/* Make the entry of the VM's own code, which has kind 0, the newest as well: the VM is known by
 * it. */
static void put_own_code_first(uint64_t next)
{
    uint64_t entry[4], at = first_entry();
    uint32_t kind = 1;

    while (at && kind) {
        if (!memory_read(vm->memory, at, entry, sizeof(entry)) ||
            !memory_read_u32(vm->memory, entry[2], &kind))
            fail("the list of code can't be read");
        at = entry[0];
    }
    put_u64(descriptor(), put_entry(next, entry[2], entry[3]));
}

/* Each module lies before the one that was loaded before it. */
static void lie_code(void)
{
    uint64_t next = first_entry();

    for (uint64_t i = 0; i < 1000000; i++)
        next = put_entry(next, symbol_file(0x600000000000 - i * 64, 0), 48);
    put_own_code_first(next);
}

static void lie_code_ring(void)
{
    uint64_t first = put_entry(0, symbol_file(0x600000000000, 0), 48);

    put_u64(first, first);
    put_u64(first + 8, first);
    put_own_code_first(first);
}

static void lie_code_sizes(void)
{
    uint64_t next = first_entry();

    for (uint64_t i = 64; i-- > 4;)
        next = put_entry(next, symbol_file(0x600000000000 + i * 64, UINT32_MAX), (uint64_t)1 << i);
    put_own_code_first(next);
}

/* ---- pages that are held back ---- */

static void lie_held_table(void)
{
    set_table(held_page(), 1 << 10, 100);
}

static void lie_held_processes(void)
{
    uint64_t table = take_room(128 * 8);

    for (uint64_t i = 0; i < 128; i++)
        put_u64(table + i * 8, i < process_count / 2 ? processes[i] : held_page());
    set_table(table, 128, 128);
}

static void lie_held_dictionaries(void)
{
    of_processes(vm->layout.process_dictionary, held_page());
}

static void lie_held_stacks(void)
{
    of_processes(vm->layout.process_stop, held_page());
    of_processes(vm->layout.process_hend, held_page() + 4096);
}

static void lie_held_atoms(void)
{
    uint64_t segments;

    if (!memory_read_u64(vm->memory, vm->roots.atom_table + (uint64_t)vm->layout.index_seg_table,
                         &segments))
        fail("atoms can't be read");
    put_u64(segments, held_page());
}

static void lie_held_code(void)
{
    put_own_code_first(held_page());
}

static const struct {
    const char *name;
    void (*tell)(void);
} lies[] = {
    {"ancestors", lie_ancestors},
    {"dictionary", lie_dictionary},
    {"label", lie_label},
    {"links", lie_links},
    {"monitors", lie_monitors},
    {"messages", lie_messages},
    {"fragments", lie_fragments},
    {"binaries", lie_binaries},
    {"stacks", lie_stacks},
    {"processes", lie_processes},
    {"table", lie_table},
    {"atoms", lie_atoms},
    {"code", lie_code},
    {"code_ring", lie_code_ring},
    {"code_sizes", lie_code_sizes},
    {"names", lie_names},
    {"changing", lie_changing},
    {"held_table", lie_held_table},
    {"held_processes", lie_held_processes},
    {"held_dictionaries", lie_held_dictionaries},
    {"held_stacks", lie_held_stacks},
    {"held_atoms", lie_held_atoms},
    {"held_code", lie_held_code},
    {"ets", lie_ets},
    {"allocators", lie_allocators},
    {"ports", lie_ports},
};

static void open_node(pid_t pid)
{
    struct error error;
    char path[32];

    vm = vm_open(pid, 0, &error);
    if (!vm)
        fail(error.text);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    memory_fd = open(path, O_RDWR | O_CLOEXEC);
    find_room(pid);
    find_held(pid);
    if (process_table_each(vm, note_process, NULL, &error))
        fail(error.text);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        if (argc < 3) {
            puts(lies[i].name);
        } else if (!strcmp(argv[2], lies[i].name)) {
            open_node(atoi(argv[1]));
            lies[i].tell();
            vm_close(vm);
            return 0;
        }
    }
    return argc < 3 ? 0 : 2;
}
