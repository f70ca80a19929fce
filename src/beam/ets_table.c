// SPDX-License-Identifier: Apache-2.0
#include "beam/ets_tables.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "beam/process_walk.h"
#include "beam/term.h"

enum {
    TABLE_BYTES_MAX = 512,
    ELEMENTS_MAX = ERTS_MAX_FLXCTR_GROUPS + 1,
    ELEMENT_BYTES = 64,
    ARRAY_BYTES_MAX = ELEMENTS_MAX * ELEMENT_BYTES + 64,
    COUNTERS = 2, /* of a table: its objects, its bytes */
    WORD = 8,
    ATTEMPTS = 5,
    PAUSES = 50,
    PAUSE_NS = 1000000,
};

bool ets_table_layout_is_known(const struct layout *layout)
{
    const int32_t needed[] = {
        layout->table_fix_count,     layout->table_next,
        layout->table_prev,          layout->table_owner,
        layout->table_name,          layout->table_identifier,
        layout->table_counter_count, layout->table_is_decentralized,
        layout->table_counters,      layout->table_status,
        layout->table_keypos,        layout->table_compress,
        layout->ets_tables_count,    layout->ets_tables_list,
    };

    return (layout->sched_ets_tables >= 0 || layout->sched_ets_tables_25 >= 0) &&
           layout_rows_fit(needed, sizeof(needed) / sizeof(*needed), INT32_MAX) &&
           layout->sizeof_table >= 0 && layout->sizeof_table <= TABLE_BYTES_MAX;
}

/* The number of the highest group of the schedulers that are online, 0 if it can't be read. An
 * offline scheduler has group 0 (erl_cpu_topology.c 25.2.3:1825, 27.3.4.1:1825,
 * 29.1.1:1827). */
static uint64_t highest_group(struct vm *vm, bool *has_offline)
{
    uint64_t highest = 0;

    *has_offline = false;
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint32_t group;

        if (scheduler->type != VM_SCHEDULER_NORMAL)
            continue;
        if (vm->layout.sched_flxctr_slot < 0 ||
            !memory_read_u32(vm->memory, scheduler->data + (uint64_t)vm->layout.sched_flxctr_slot,
                             &group) ||
            group > ERTS_MAX_FLXCTR_GROUPS)
            return 0;
        *has_offline |= group == 0;
        highest = group > highest ? group : highest;
    }
    return highest;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A decentralized counter has an element for no group, and one for each group of schedulers. There
 * are as many groups as schedulers, at most as many as CPUs (erl_cpu_topology.c 25.2.3:1708,
 * 27.3.4.1:1708, 29.1.1:1710), and +dcg makes them fewer. */
void ets_table_reader_init(struct ets_reader *reader, struct vm *vm)
{
    bool has_offline;
    uint64_t highest = highest_group(vm, &has_offline);
    uint64_t most = least(vm->scheduler_counts[VM_SCHEDULER_NORMAL], ERTS_MAX_FLXCTR_GROUPS);

    if (!vm->core)
        most = least(most, (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
    if (!has_offline || most < highest)
        most = highest;
    *reader = (struct ets_reader){vm, highest ? highest + 1 : 0, most + 1, PAUSES};
}

/* ---- the struct ---- */

/* The number of the one bit of `status` among the `count` bits of `bits`; -1 if there is not
 * exactly one. */
static int only_bit(uint64_t status, const uint32_t *bits, int count)
{
    int found = -1;

    for (int i = 0; i < count; i++) {
        if (!(status & bits[i]))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static bool read_status(uint64_t status, struct table_facts *facts)
{
    static const uint32_t types[] = {
        [TABLE_SET] = DB_SET,
        [TABLE_ORDERED_SET] = DB_ORDERED_SET,
        [TABLE_BAG] = DB_BAG,
        [TABLE_DUPLICATE_BAG] = DB_DUPLICATE_BAG,
        [TABLE_DUPLICATE_BAG + 1] = DB_CA_ORDERED_SET,
    };
    static const uint32_t protections[] = {
        [TABLE_PRIVATE] = DB_PRIVATE,
        [TABLE_PROTECTED] = DB_PROTECTED,
        [TABLE_PUBLIC] = DB_PUBLIC,
    };
    int type = only_bit(status, types, sizeof(types) / sizeof(*types));
    int protection = only_bit(status, protections, sizeof(protections) / sizeof(*protections));

    if (type < 0 || protection < 0)
        return false;
    facts->type = (uint8_t)(types[type] == DB_CA_ORDERED_SET ? TABLE_ORDERED_SET : type);
    facts->protection = (uint8_t)protection;
    facts->is_named = status & DB_NAMED_TABLE;
    facts->read_concurrency = status & DB_FREQ_READ;
    if (status & DB_FINE_LOCKED)
        facts->write_concurrency =
            status & DB_FINE_LOCKED_AUTO ? TABLE_CONCURRENCY_AUTO : TABLE_CONCURRENCY_TRUE;
    return true;
}

/* Set the counts, unless they make no sense. ets:info/2 rounds the bytes up to words (erl_db.c
 * 25.2.3:5220, 27.3.4.1:5372, 29.1.1:5470). */
static void set_counts(struct table_facts *facts, const uint64_t counts[COUNTERS])
{
    if ((int64_t)counts[0] < 0 || (int64_t)counts[1] < 0 || (int64_t)counts[1] > INT64_MAX - WORD)
        return;
    facts->objects = counts[ERTS_DB_TABLE_NITEMS_COUNTER_ID];
    facts->bytes = (counts[ERTS_DB_TABLE_MEM_COUNTER_ID] + WORD - 1) / WORD * WORD;
    facts->is_counted = true;
}

/* Find out from `bytes` if the counters are in the struct or in a block of their own. False if they
 * make no sense. */
static bool read_counters(const struct ets_reader *reader, const uint8_t *bytes,
                          struct ets_entry *entry)
{
    const struct layout *layout = &reader->vm->layout;
    size_t size = (size_t)layout->sizeof_table;
    uint64_t count, is_decentralized, counts[COUNTERS];

    if (!process_walk_part(bytes, size, layout->table_counter_count, 4, &count) ||
        count != COUNTERS ||
        !process_walk_part(bytes, size, layout->table_is_decentralized, 1, &is_decentralized) ||
        is_decentralized > 1)
        return false;
    entry->has_block = is_decentralized;
    for (int i = 0; i < COUNTERS; i++)
        if (!process_walk_part(bytes, size, layout->table_counters + i * WORD, WORD, &counts[i]))
            return false;
    if (!is_decentralized)
        set_counts(&entry->table.facts, counts);
    return true;
}

bool ets_table_read(const struct ets_reader *reader, uint64_t address, struct ets_entry *entry)
{
    const struct layout *layout = &reader->vm->layout;
    size_t size = (size_t)layout->sizeof_table;
    struct ets_table *table = &entry->table;
    uint8_t bytes[TABLE_BYTES_MAX];
    uint64_t status, keypos, compress, fixations;

    *entry = (struct ets_entry){.address = address};
    if (address % WORD || !memory_read(reader->vm->memory, address, bytes, size) ||
        !process_walk_part(bytes, size, layout->table_next, WORD, &entry->next) ||
        !process_walk_part(bytes, size, layout->table_prev, WORD, &entry->prev) ||
        !process_walk_part(bytes, size, layout->table_identifier, WORD, &entry->identifier) ||
        !process_walk_part(bytes, size, layout->table_name, WORD, &table->name) ||
        !process_walk_part(bytes, size, layout->table_owner, WORD, &table->owner) ||
        !process_walk_part(bytes, size, layout->table_status, 4, &status) ||
        !process_walk_part(bytes, size, layout->table_keypos, 4, &keypos) ||
        !process_walk_part(bytes, size, layout->table_compress, 1, &compress) ||
        !process_walk_part(bytes, size, layout->table_fix_count, WORD, &fixations) ||
        !term_is_atom(table->name) || keypos - 1 > INT32_MAX ||
        !read_status(status, &table->facts) || !read_counters(reader, bytes, entry))
        return false;
    entry->is_deleted = status & DB_DELETE;
    table->facts.keypos = (uint32_t)keypos;
    table->facts.is_compressed = compress;
    table->facts.is_fixed = fixations;
    return entry->is_deleted || term_is_pid(table->owner);
}

/* The data of an identifier's ErtsMagicBinary is the address of the table (make_btid(), erl_db.c
 * 25.2.3:262, 27.3.4.1:262). The numbers are read last: no other reference has them, so the memory
 * before was that of this identifier. */
bool ets_table_name(struct vm *vm, uint64_t identifier, const uint32_t numbers[ERTS_REF_NUMBERS],
                    uint64_t *ret_name)
{
    const struct layout *layout = &vm->layout;
    const struct ets_reader reader = {.vm = vm};
    uint32_t numbers_now[ERTS_REF_NUMBERS];
    struct ets_entry entry;
    uint64_t table;

    if (!ets_table_layout_is_known(layout) || layout->magic_binary_data < 0 ||
        layout->magic_binary_numbers < 0 ||
        !memory_read_u64(vm->memory, identifier + (uint64_t)layout->magic_binary_data, &table) ||
        !ets_table_read(&reader, table, &entry) || entry.is_deleted ||
        entry.identifier != identifier ||
        !memory_read(vm->memory, identifier + (uint64_t)layout->magic_binary_numbers, numbers_now,
                     sizeof(numbers_now)) ||
        memcmp(numbers_now, numbers, sizeof(numbers_now)) != 0)
        return false;
    *ret_name = entry.table.name;
    return true;
}

/* ---- data behind the struct ---- */

/* The numbers of a table's identifier contain the number of the scheduler that made it
 * (remove_sched_table(), erl_db.c 25.2.3:532, 27.3.4.1:532, 29.1.1:564). */
static void read_reference(const struct ets_reader *reader, uint32_t scheduler,
                           struct ets_entry *entry)
{
    int32_t at = reader->vm->layout.magic_binary_numbers;
    uint32_t numbers[3];

    if (at < 0 || !entry->identifier ||
        !memory_read(reader->vm->memory, entry->identifier + (uint64_t)at, numbers,
                     sizeof(numbers)) ||
        !(numbers[1] & ERTS_REF1_MAGIC_MARKER_BIT) ||
        (numbers[1] & ERTS_REF1_THR_ID_MASK) != scheduler)
        return;
    memcpy(entry->table.reference, numbers, sizeof(numbers));
    entry->table.has_reference = true;
}

/* Add up a decentralized counter. False if its sum is unknown. A reader in the VM puts a new block
 * in place, and adds the sums of the old block later (erts_flxctr_snapshot(), erl_flxctr.c
 * 27.3.4.1:266); the sum is unknown in between. The sum is also unknown if words follow the
 * elements that are sure to exist: these words may be elements, or not. */
static bool read_block(const struct ets_reader *reader, uint64_t table, uint64_t counts[COUNTERS])
{
    const struct layout *layout = &reader->vm->layout;
    struct memory *memory = reader->vm->memory;
    uint64_t pointer = table + (uint64_t)layout->table_counters, block, block_after, status;
    size_t start = (size_t)layout->counter_elements;
    size_t size = start + reader->slots_most * ELEMENT_BYTES;
    uint8_t bytes[ARRAY_BYTES_MAX];

    if (size > sizeof(bytes) || !memory_read_u64(memory, pointer, &block) ||
        !memory_read(memory, block, bytes, size) ||
        !memory_read_u64(memory, pointer, &block_after) || block_after != block ||
        !process_walk_part(bytes, size, layout->counter_snapshot_status, WORD, &status) ||
        status != ERTS_FLXCTR_SNAPSHOT_NOT_ONGOING)
        return false;
    memset(counts, 0, COUNTERS * sizeof(*counts));
    for (size_t slot = 0; slot < reader->slots_most; slot++) {
        for (size_t i = 0; i < COUNTERS; i++) {
            uint64_t word = layout_word(bytes, (int32_t)(start + slot * ELEMENT_BYTES + i * WORD));

            if (slot >= reader->slots && word)
                return false;
            counts[i] += word;
        }
    }
    return true;
}

static bool can_read_blocks(const struct ets_reader *reader)
{
    const struct layout *layout = &reader->vm->layout;

    return reader->slots && layout->counter_elements >= 0 && layout->counter_elements <= 64 &&
           layout->counter_snapshot_status >= 0 && layout->sizeof_counter_element == ELEMENT_BYTES;
}

static void read_counts(struct ets_reader *reader, struct ets_entry *entry)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t counts[COUNTERS];

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (read_block(reader, entry->address, counts)) {
            set_counts(&entry->table.facts, counts);
            return;
        }
        if (reader->vm->core || !reader->pauses)
            return;
        reader->pauses--;
        nanosleep(&pause, NULL);
    }
}

bool ets_table_complete(struct ets_reader *reader, uint32_t scheduler, struct ets_entry *entry)
{
    struct ets_entry now;

    read_reference(reader, scheduler, entry);
    if (entry->has_block && can_read_blocks(reader))
        read_counts(reader, entry);
    return ets_table_read(reader, entry->address, &now) && !now.is_deleted &&
           now.identifier == entry->identifier && now.table.name == entry->table.name;
}
