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
