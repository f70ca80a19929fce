// SPDX-License-Identifier: Apache-2.0
/* One ETS table, read from the target: the parts of ets_tables_each(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/ets_tables.h"

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
 * `scheduler`: the number of the one in whose list the table is. False if the table is gone by now:
 * what was read may be of something else. */
bool ets_table_complete(struct ets_reader *reader, uint32_t scheduler, struct ets_entry *entry);
