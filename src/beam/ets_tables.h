// SPDX-License-Identifier: Apache-2.0
/*
 * The ETS tables of a VM.
 *
 * Each scheduler has a circular list of the tables that were created on it (save_sched_table(),
 * erl_db.c 25.2.3:504, 27.3.4.1:504, 29.1.1:536). ets:all/0 reads these lists as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/dump.h"

struct ets_table {
    uint64_t name;         /* atom */
    uint64_t owner;        /* pid term */
    uint32_t reference[3]; /* the numbers of the table's identifier, as in memory */
    bool has_reference;
    struct table_facts facts;
};

struct ets_counts {
    uint64_t deleted; /* tables that are being deleted, or were deleted meanwhile: not visited */
    uint64_t lost;    /* other tables that were not visited: a list changed while it was read, a
                       * table can't be read or makes no sense, or there are too many */
};

enum { ETS_REFERENCE_BYTES = 64 };
/* Write the table's identifier: "#Ref<0.1.2.3>". It must have one. */
void ets_tables_reference_text(const struct ets_table *table, char text[ETS_REFERENCE_BYTES]);

typedef void (*ets_visit)(void *context, const struct ets_table *table);

/* Visit all tables and fill *ret_counts. False if the layout of tables is not known. */
bool ets_tables_each(struct vm *vm, ets_visit visit, void *context, struct ets_counts *ret_counts);

/* Find the name of the table whose identifier is this: a magic reference, by the address of its
 * ErtsMagicBinary and its numbers. False if the table has been deleted, or can't be read. */
bool ets_table_name(struct vm *vm, uint64_t identifier, const uint32_t numbers[ERTS_REF_NUMBERS],
                    uint64_t *ret_name);

/* ---- ets_table.c ---- */

/* One ETS table, read from the target: the parts of ets_tables_each(). */

struct ets_reader {
    struct vm *vm;
    uint64_t slots;      /* elements that a decentralized counter is sure to have; 0: not known */
    uint64_t slots_most; /* that it may have */
    unsigned int pauses; /* left in the budget of waits */
};

/* A table, and where the rest of it is. */
struct ets_entry {
    uint64_t address, next, prev; /* its struct, its neighbours in the list */
    uint64_t identifier;          /* address of the Binary of its identifier */
    bool is_deleted;              /* it is being deleted: its owner may have ended */
    bool has_block;               /* its counters are in a block of their own */
    struct ets_table table;
};

/* True if the layout of tables is known. */
bool ets_table_layout_is_known(const struct layout *layout);

void ets_table_reader_init(struct ets_reader *reader, struct vm *vm);

/* Read the struct at `address`. False if it can't be read or is no table. */
bool ets_table_read(const struct ets_reader *reader, uint64_t address, struct ets_entry *entry);

/* Read what the struct only points to: the identifier, and counters in a block of their own.
 * `scheduler`: the number of the one in whose list the table is. False if the table has been
 * deleted meanwhile: the words may belong to another struct. */
bool ets_table_complete(struct ets_reader *reader, uint32_t scheduler, struct ets_entry *entry);
