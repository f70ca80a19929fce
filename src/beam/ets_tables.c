// SPDX-License-Identifier: Apache-2.0
#include "beam/ets_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/alloc.h"

enum {
    ATTEMPTS = 3,
    TABLES_MAX = 1 << 17, /* in one VM */
    READS_MAX = 2 * TABLES_MAX,
};

/* The numbers backwards, as the VM prints a reference of its own (erl_printf_term.c
 * 27.3.4.1:498). */
void ets_tables_reference_text(const struct ets_table *table, char text[ETS_REFERENCE_BYTES])
{
    snprintf(text, ETS_REFERENCE_BYTES, "#Ref<0.%" PRIu32 ".%" PRIu32 ".%" PRIu32 ">",
             table->reference[2], table->reference[1], table->reference[0]);
}

struct ets_walk {
    struct ets_reader reader;
    uint64_t tables;                  /* address of the scheduler's ErtsEtsTables */
    uint64_t tables_left, reads_left; /* in the budget */
};

struct ets_list {
    struct ets_entry *entries;
    size_t count, room;
};

/* Read the list once. True if it is closed: each table's predecessor is the one before, and the
 * first follows the last. */
static bool read_list(struct ets_walk *walk, struct ets_list *list)
{
    struct vm *vm = walk->reader.vm;
    uint64_t first, at, before = 0;

    list->count = 0;
    if (!memory_read_u64(vm->memory, walk->tables + (uint64_t)vm->layout.ets_tables_list, &first))
        return false;
    for (at = first; at && (at != first || !list->count);
         at = list->entries[list->count - 1].next) {
        if (!walk->reads_left || list->count == walk->tables_left)
            return false;
        walk->reads_left--;
        list->entries = xgrow(list->entries, &list->room, list->count, sizeof(*list->entries));
        if (!ets_table_read(&walk->reader, at, &list->entries[list->count]) ||
            (list->count && list->entries[list->count].prev != before))
            return false;
        list->count++;
        before = at;
    }
    return !first || (at && list->entries[0].prev == before);
}

/* Read the list until it is closed. If it does not close, keep the longest part that was read. */
static bool read_whole_list(struct ets_walk *walk, struct ets_list *list)
{
    struct ets_list again = {0};
    bool is_closed = read_list(walk, list);

    for (int attempt = 1;
         attempt < ATTEMPTS && !is_closed && walk->reads_left && list->count < walk->tables_left;
         attempt++) {
        is_closed = read_list(walk, &again);
        if (is_closed || again.count > list->count) {
            struct ets_list longest = again;

            again = *list;
            *list = longest;
        }
    }
    free(again.entries);
    return is_closed;
}

/* The number of tables of this list, as the VM counts them, that were not read. */
static uint64_t count_lost(struct ets_walk *walk, const struct ets_list *list)
{
    struct vm *vm = walk->reader.vm;
    uint64_t count;

    if (!memory_read_u64(vm->memory, walk->tables + (uint64_t)vm->layout.ets_tables_count, &count))
        return 1;
    return count > list->count ? count - list->count : 0;
}

static void visit_list(struct ets_walk *walk, uint32_t scheduler, ets_visit visit, void *context,
                       struct ets_counts *counts)
{
    struct ets_list list = {0};

    if (!read_whole_list(walk, &list))
        counts->lost += count_lost(walk, &list);
    walk->tables_left -= list.count;
    for (size_t i = 0; i < list.count; i++) {
        struct ets_entry *entry = &list.entries[i];

        if (!entry->is_deleted && ets_table_complete(&walk->reader, scheduler, entry))
            visit(context, &entry->table);
        else
            counts->deleted++;
    }
    free(list.entries);
}

bool ets_tables_each(struct vm *vm, ets_visit visit, void *context, struct ets_counts *ret_counts)
{
    const struct layout *layout = &vm->layout;
    int32_t at =
        layout->sched_ets_tables >= 0 ? layout->sched_ets_tables : layout->sched_ets_tables_25;
    struct ets_walk walk = {.tables_left = TABLES_MAX, .reads_left = READS_MAX};

    *ret_counts = (struct ets_counts){0};
    if (!ets_table_layout_is_known(layout))
        return false;
    ets_table_reader_init(&walk.reader, vm);
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        if (vm->schedulers[i].type != VM_SCHEDULER_NORMAL)
            continue;
        walk.tables = vm->schedulers[i].data + (uint64_t)at;
        visit_list(&walk, vm->schedulers[i].number, visit, context, ret_counts);
    }
    return true;
}
