// SPDX-License-Identifier: Apache-2.0
/*
 * A VM of any release that exists only as memory: its variables, its tables of processes, ports,
 * atoms and ETS, its schedulers, its allocators and its code. It passes all checks that a real VM
 * must pass, so that readers of its memory go as far as they can.
 */
#pragma once

#include "beam/allocators.h"
#include "beam/roots.h"
#include "imitated_code.h"
#include "imitated_process.h"

/* The places of the variables in the data of the executable. */
enum {
    DATA_BYTES = 4096,
    PROC_TABLE = 0x100,
    PORT_TABLE = 0x300,
    ATOM_TABLE = 0x508,
    SCHEDULERS = 0x600,
    DESCRIPTOR = 0x648,
    RANGES = 0x708,
    THIS_NODE = 0x808,
    ALLOCATORS = 0x908,
};

enum { TABLE_SLOTS = 2048, PORTS = 3, TABLES = 3 };

/* ---- the tables of processes and ports ---- */

static inline void put_mask(struct imitation *to, uint64_t at, int32_t offset, uint64_t mask)
{
    const struct layout *layout = &to->vm->layout;

    if (layout->ptab_pix_cl_mask - layout->ptab_pix_mask == sizeof(mask))
        put_word(to, at, offset, mask);
    else
        put_half(to, at, offset, (uint32_t)mask);
}

/* The queue of data gives slot N + 1 after slot N. */
static inline void put_queue(struct imitation *to, uint64_t at)
{
    const struct layout *layout = &to->vm->layout;
    size_t size = to->vm->features.wide_pids ? sizeof(uint64_t) : sizeof(uint32_t);
    uint64_t data = fake_room(to->target, TABLE_SLOTS * size);

    for (uint64_t i = 0; i < TABLE_SLOTS; i++)
        fake_put(to->target, data + i * size, &i, size);
    put_half(to, at, layout->ptab_aid_ix, PROCESSES);
    put_word(to, at, layout->ptab_free_id_data, data);
    put_word(to, at, layout->ptab_invalid_data, UINT32_MAX);
    put_mask(to, at, layout->ptab_dix_cl_mask, TABLE_SLOTS - 1);
}

/* Write a table with these elements. `tag` is that of their ids. */
static inline void put_ptab(struct imitation *to, uint64_t at, unsigned int tag, size_t size,
                            const uint64_t *elements, uint32_t count)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t slots = fake_room(to->target, TABLE_SLOTS * sizeof(*elements));
    uint64_t invalid = fake_room(to->target, 1024);

    fake_put(to->target, slots, elements, count * sizeof(*elements));
    put_word(to, invalid, layout->process_id, pid_of(to, TABLE_SLOTS - 1, tag));
    put_word(to, at, layout->ptab_tab, slots);
    put_half(to, at, layout->ptab_count, count);
    put_half(to, at, layout->ptab_max, TABLE_SLOTS);
    put_half(to, at, layout->ptab_element_size, (uint32_t)size);
    put_word(to, at, layout->ptab_invalid_element, invalid);
    put_mask(to, at, layout->ptab_pix_mask, TABLE_SLOTS - 1);
    put_mask(to, at, layout->ptab_pix_cl_mask, TABLE_SLOTS - 1);
    put_queue(to, at);
}

static inline uint64_t put_port(struct imitation *to, uint64_t number)
{
    static const char *const drivers[PORTS] = {"tcp_inet", "spawn", "forker"};
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, 1024), data = fake_room(to->target, 1024);
    uint64_t driver = fake_room(to->target, 512), registered = fake_room(to->target, 64);

    put_word(to, driver, layout->driver_name, put_text(to, drivers[number]));
    put_word(to, driver, layout->driver_next, driver);
    put_word(to, driver, layout->driver_start, to->code + FUNCTION);
    put_word(to, registered, layout->regproc_name, fake_atom_term(ATOM_F));
    put_word(to, at, layout->port_id, pid_of(to, number, 7));
    put_word(to, at, layout->port_reg, registered);
    put_word(to, at, layout->port_drv_ptr, driver);
    put_word(to, at, layout->port_drv_data, data);
    put_word(to, at, layout->port_name, put_text(to, "a port with a name that is not short"));
    put_word(to, at, layout->port_connected, pid_of(to, 1, 3));
    put_word(to, at, layout->port_os_pid, number);
    put_word(to, at, layout->port_ioq_size, 100);
    put_half(to, data, layout->inet_socket, 17);
    put_word(to, data, layout->inet_port, at);
    put_word(to, data, layout->inet_dport, pid_of(to, number, 7));
    put_word(to, data, layout->inet_recv_oct, 1000);
    put_word(to, data, layout->inet_send_oct, 2000);
    return at;
}

/* ---- schedulers and ETS tables ---- */

/* A table whose counters are in a block of their own, if `has_block`. */
static inline uint64_t put_table(struct imitation *to, uint32_t status, bool has_block)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, 512), block = fake_room(to->target, 4096);
    uint64_t identifier = fake_room(to->target, 256);

    put_half(to, identifier, layout->magic_binary_numbers + 4, ERTS_REF1_MAGIC_MARKER_BIT | 1);
    put_word(to, at, layout->table_identifier, identifier);
    put_word(to, at, layout->table_name, fake_atom_term(ATOM_SHOP));
    put_word(to, at, layout->table_owner, pid_of(to, 5, 3));
    put_half(to, at, layout->table_status, status);
    put_half(to, at, layout->table_keypos, 1);
    put_half(to, at, layout->table_counter_count, 2);
    put_half(to, at, layout->table_is_decentralized, has_block);
    put_word(to, at, layout->table_counters, has_block ? block : 7);
    put_word(to, block, layout->counter_elements, 7);
    return at;
}

static inline void put_tables(struct imitation *to, uint64_t scheduler)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t all[TABLES] = {put_table(to, DB_SET | DB_PUBLIC | DB_FINE_LOCKED, true),
                            put_table(to, DB_CA_ORDERED_SET | DB_PRIVATE, false),
                            put_table(to, DB_BAG | DB_PROTECTED | DB_NAMED_TABLE, false)};
    int32_t lists =
        layout->sched_ets_tables >= 0 ? layout->sched_ets_tables : layout->sched_ets_tables_25;

    if (lists < 0 || layout->ets_tables_list < 0)
        return;
    for (size_t i = 0; i < TABLES; i++) {
        put_word(to, all[i], layout->table_next, all[(i + 1) % TABLES]);
        put_word(to, all[i], layout->table_prev, all[(i + TABLES - 1) % TABLES]);
    }
    put_word(to, scheduler, lists + layout->ets_tables_list, all[0]);
    put_word(to, scheduler, lists + layout->ets_tables_count, TABLES);
}

/* Write two schedulers of a type, of which the first runs `process`. Returns the first. */
static inline uint64_t put_schedulers(struct imitation *to, enum vm_scheduler_type type,
                                      uint64_t process)
{
    const struct layout *layout = &to->vm->layout;
    size_t distance = (size_t)layout->sizeof_sched_aligned;
    uint64_t at = fake_room(to->target, 3 * distance), queue = fake_room(to->target, 4096);

    put_word(to, queue, layout->run_queue_switches, 5);
    put_word(to, queue, layout->run_queue_reductions, 50);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t scheduler = at + i * distance, thread = fake_room(to->target, 64);

        fake_put_u64(to->target, thread, thread);
        put_half(to, scheduler, layout->sched_type, type);
        put_word(to, scheduler, type ? layout->sched_dirty_no : layout->sched_no, i + 1);
        put_word(to, scheduler, layout->sched_tid, thread);
        put_word(to, scheduler, layout->sched_run_queue, queue);
        put_word(to, scheduler, layout->sched_registers, fake_room(to->target, 8192) + 4096);
        put_half(to, scheduler, layout->sched_flxctr_slot, (uint32_t)i + 1);
        put_word(to, scheduler, layout->sched_current_process, i ? 0 : process);
        if (!type)
            put_tables(to, scheduler);
    }
    return at;
}

/* ---- allocators, code and the node ---- */

enum { ALLOC_SYSTEM = 1, ALLOC_LITERAL = 9, ALLOC_BINARY = 10, INFO_BYTES = 24 };

static inline uint64_t put_instance(struct imitation *to, uint32_t number, const char *prefix)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, 2400);

    put_half(to, at, layout->allocator_number, number);
    put_word(to, at, layout->allocator_name_prefix, put_text(to, prefix));
    put_word(to, at, layout->allocator_multi + 8, 1 << 20);
    return at;
}

static inline void put_info(struct imitation *to, uint64_t at, uint32_t number, uint32_t instances,
                            uint64_t extra)
{
    const uint32_t start[] = {extra != 0, 1, instances, 0};

    fake_put(to->target, at + number * INFO_BYTES, start, sizeof(start));
    fake_put_u64(to->target, at + number * INFO_BYTES + 16, extra);
}

static inline void put_allocators(struct imitation *to, uint64_t at)
{
    const uint32_t head[] = {1, 1, ALLOC_BINARY, 2};
    uint64_t specific = fake_room(to->target, INFO_BYTES);
    uint64_t first = put_instance(to, ALLOC_BINARY, "binary_");
    uint64_t second = put_instance(to, ALLOC_BINARY, "binary_");

    fake_put(to->target, specific, head, sizeof(head));
    fake_put_u64(to->target, specific + 16, FAKE_WORDS(to->target, first, second));
    put_info(to, at, ALLOC_SYSTEM, 0, 0);
    put_info(to, at, ALLOC_BINARY, 2, specific);
    put_info(to, at, ALLOC_LITERAL, 0, put_instance(to, ALLOC_LITERAL, "literal_"));
}

/* The JIT's list: module m, and behind it the VM's own code. */
static inline void put_code(struct imitation *to)
{
    struct vm *vm = to->vm;
    bool old = vm->features.old_gdb_jit;
    uint64_t own = fake_load(to->target, vm,
                             fake_emulator(to->code + 7 * FUNCTION + 8, vm->build.otp_release % 2));
    uint64_t first = fake_load(to->target, vm,
                               (old ? fake_old_symfile : fake_symfile)(
                                   "m", to->code, FUNCTIONS * FUNCTION, imitated_code, FUNCTIONS));

    if (old) /* the list does not have it */
        vm->roots.normal_exit = to->code + 7 * FUNCTION + 8;
    fake_put_u64(to->target, own + 8, first);
    fake_put_u32(to->target, vm->roots.jit_descriptor, 1);
    fake_put(to->target, to->code + FUNCTION + 0x10, "\x48\x89\xec", 3);
}

static inline void put_ranges(struct imitation *to, uint64_t at)
{
    uint64_t modules = FAKE_WORDS(to->target, to->code, to->code + FUNCTIONS * FUNCTION);
    const uint64_t active[] = {modules, 1, 8, modules};

    fake_put(to->target, at + sizeof(active), active, sizeof(active));
    fake_put_u32(to->target, at + 3 * sizeof(active), 2);
    fake_put_u32(to->target, at + 3 * sizeof(active) + 4, 1);
}

static inline void put_node(struct imitation *to, uint64_t at)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t entry = fake_room(to->target, 64), node = fake_room(to->target, 64);

    put_word(to, node, layout->node_sysname, fake_atom_term(ATOM_NODE));
    put_word(to, node, layout->node_dist_entry, entry);
    fake_put_u64(to->target, at, node);
    fake_put_u64(to->target, at + 8, entry);
}

/* ---- the VM ---- */

static inline void put_all(struct imitation *to, uint64_t data)
{
    struct vm_roots *roots = &to->vm->roots;
    uint64_t processes[PROCESSES], ports[PORTS];

    for (uint64_t i = 0; i < PROCESSES; i++)
        processes[i] = put_process(to, i);
    for (uint64_t i = 0; i < PORTS; i++)
        ports[i] = put_port(to, i);
    put_ptab(to, roots->proc_table, 3, (size_t)to->vm->layout.sizeof_process, processes, PROCESSES);
    put_ptab(to, roots->port_table, 7, 0, ports, PORTS);
    for (int type = 0; type < 3; type++) {
        roots->schedulers[type] = put_schedulers(to, type, processes[type + 1]);
        fake_put_u64(to->target, data + SCHEDULERS + (uint64_t)type * 8, roots->schedulers[type]);
    }
    put_code(to);
    put_ranges(to, roots->code_ranges);
    put_node(to, roots->this_node);
    put_allocators(to, roots->allocators);
}

/* Make the VM of this release in `target`, which is empty. Return the address of its data. */
static inline uint64_t imitate_vm(struct fake_target *target, struct vm *vm, int release)
{
    struct imitation to = {target, vm, 0};
    uint64_t data = fake_room(target, DATA_BYTES);

    *vm = (struct vm){.memory = &target->memory};
    fake_release(vm, release);
    snprintf(vm->build.erts, sizeof(vm->build.erts), "99");
    vm->roots = (struct vm_roots){
        .proc_table = data + PROC_TABLE,
        .port_table = data + PORT_TABLE,
        .atom_table = data + ATOM_TABLE,
        .jit_descriptor = data + DESCRIPTOR,
        .code_ranges = data + RANGES,
        .this_node = data + THIS_NODE,
        .allocators = data + ALLOCATORS,
    };
    to.code = fake_room(target, FUNCTIONS * FUNCTION);
    fake_atom_table(target, &vm->layout, vm->roots.atom_table, 200, imitated_atoms, ATOMS);
    put_half(&to, vm->roots.atom_table, vm->layout.index_limit, 1 << 20);
    put_all(&to, data);
    return data;
}
