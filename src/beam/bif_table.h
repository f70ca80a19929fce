// SPDX-License-Identifier: Apache-2.0
/*
 * The VM's table of BIFs (BifEntry bif_table[], utils/make_tables 25:227, 29:229): which C function
 * each of them is.
 *
 * Found by symbol, else as the one long run of rows in the executable's writable data that name two
 * atoms, a small arity and two functions each.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/roots.h"
#include "beam/vm.h"

/* A row, as it is in the VM's memory. */
struct bif {
    uint64_t module, function; /* atoms */
    uint32_t arity, padding;
    uint64_t called;         /* what Erlang code calls: for a dirty BIF, what schedules it */
    uint64_t implementation; /* what does the work */
    uint32_t kind, padding_2;
};

struct bif_table {
    struct bif *rows;
    size_t count;
};

/* -1 with ERROR_UNSUPPORTED if there is not exactly one such table. */
int bif_table_read(struct vm *vm, struct elf_file *executable, struct bif_table *table,
                   struct error *error);
void bif_table_free(struct bif_table *table);

/* The steps of it: the longest run of rows in the data, and whether no other is long. Rows are
 * those of `search`'s bytes, not copied. */
const struct bif *bif_table_search(const struct roots_search *search, size_t *ret_count);
