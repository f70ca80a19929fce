// SPDX-License-Identifier: Apache-2.0
/* Lies about processes: what their structs point to, their stacks, and the table of processes. */
#include <stdio.h>
#include <string.h>

#include "beam/term.h"
#include "hostile.h"
#include "vm_constants.h"

enum { NODE_BYTES = 512 };

/* ---- terms ---- */

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

/* ---- what a struct points to ---- */

static void give_dictionary(uint64_t slot)
{
    uint64_t dictionary = take_room(64 + 8192 * 8);

    put_u32(dictionary + (uint64_t)vm->layout.procdict_used, UINT32_MAX);
    for (uint64_t i = 0; i < 8192; i++)
        put_u64(dictionary + (uint64_t)vm->layout.procdict_data + i * 8, slot);
    of_processes(vm->layout.process_dictionary, dictionary);
}

void lie_ancestors(void)
{
    give_dictionary(ring(pair(atom_of("$ancestors"), ring(15))));
}

void lie_dictionary(void)
{
    give_dictionary(ring(pair(15, 15)));
}

/* A tuple of 2^50 elements, the first of which is the tuple. */
void lie_label(void)
{
    uint64_t tuple = take_room(16);

    put_u64(tuple, (uint64_t)1 << 56 | ARITYVAL_SUBTAG);
    put_u64(tuple + 8, boxed(tuple));
    give_dictionary(pair(atom_of("$initial_call"), boxed(tuple)));
}

void lie_links(void)
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
void lie_monitors(void)
{
    uint64_t first = take_room(NODE_BYTES), second = take_room(NODE_BYTES);

    put_u64(first + (uint64_t)vm->layout.relation_next, second);
    put_u64(second + (uint64_t)vm->layout.relation_next, second);
    put_u64(second + (uint64_t)vm->layout.relation_prev, second);
    of_processes(vm->layout.process_lt_monitors, first);
}

void lie_messages(void)
{
    uint64_t message = take_room(256);

    put_u64(message + (uint64_t)vm->layout.message_next, message);
    put_u64(message + (uint64_t)vm->layout.message_m, 15);
    of_processes(vm->layout.process_msgq_first, message);
}

void lie_fragments(void)
{
    uint64_t fragment = take_room(256);

    put_u64(fragment + (uint64_t)vm->layout.heap_fragment_next, fragment);
    of_processes(vm->layout.process_mbuf, fragment);
}

void lie_binaries(void)
{
    uint64_t binary = take_room(64);

    put_u64(binary, 5 << HEADER_ARITY_OFFS | REFC_BINARY_SUBTAG);
    put_u64(binary + (uint64_t)vm->layout.off_heap_next, binary);
    of_processes(vm->layout.process_off_heap_first, binary);
}

void lie_held_dictionaries(void)
{
    of_processes(vm->layout.process_dictionary, held_page());
}

/* ---- stacks ---- */

/* Stacks of 2^40 bytes. */
void lie_stacks(void)
{
    of_processes(vm->layout.process_stop, room);
    of_processes(vm->layout.process_hend, room + ((uint64_t)1 << 40));
}

void lie_held_stacks(void)
{
    of_processes(vm->layout.process_stop, held_page());
    of_processes(vm->layout.process_hend, held_page() + 4096);
}

/* ---- what the schedulers run ---- */

enum { ABSENT = 0x10000 /* no process maps anything here */ };

/* Call `lie` for each scheduler that runs a process. */
static void of_running(void (*lie)(uint64_t scheduler, uint64_t process))
{
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        uint64_t process, scheduler = vm->schedulers[i].data;

        if (memory_read_u64(vm->memory, scheduler + (uint64_t)vm->layout.sched_current_process,
                            &process) &&
            process)
            lie(scheduler, process);
    }
}

static void put_absent_stack(uint64_t scheduler, uint64_t process)
{
    (void)scheduler;
    put_u64(process + (uint64_t)vm->layout.process_stop, ABSENT);
    put_u64(process + (uint64_t)vm->layout.process_hend, ABSENT + 4096);
}

static void put_absent_process(uint64_t scheduler, uint64_t process)
{
    (void)process;
    put_u64(scheduler + (uint64_t)vm->layout.sched_current_process, ABSENT);
}

void lie_absent_stack(void)
{
    of_running(put_absent_stack);
}

void lie_absent_process(void)
{
    of_running(put_absent_process);
}

/* ---- the table of processes ---- */

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
void lie_processes(void)
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
void lie_table(void)
{
    uint32_t max = 1 << 24;
    uint64_t places[1024], table = take_room(max * sizeof(*places));

    for (size_t i = 0; i < 1024; i++)
        places[i] = processes[0];
    for (uint64_t at = 0; at < max; at += 1024)
        put(table + at * sizeof(*places), places, sizeof(places));
    set_table(table, max, max);
}

void lie_held_table(void)
{
    set_table(held_page(), 1 << 10, 100);
}

void lie_held_processes(void)
{
    uint64_t table = take_room(128 * 8);

    for (uint64_t i = 0; i < 128; i++)
        put_u64(table + i * 8, i < process_count / 2 ? processes[i] : held_page());
    set_table(table, 128, 128);
}

/* ---- lies that change ---- */

/* Change stacks, where they begin, and the names of processes, until this program is killed. */
void lie_changing(void)
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
