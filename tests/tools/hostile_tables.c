// SPDX-License-Identifier: Apache-2.0
/* Lies about what is no process: ETS tables, allocators, ports. */
#include "hostile.h"
#include "vm_constants.h"

/* Each scheduler has the same 262,144 ETS tables, each with an owner and an identifier of its own,
 * and counters that are being moved. The list never comes back to its first table. */
void lie_ets(void)
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
void lie_allocators(void)
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
void lie_ports(void)
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
