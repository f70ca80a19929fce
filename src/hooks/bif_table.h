// SPDX-License-Identifier: Apache-2.0
/*
 * The VM's table of BIFs (BifEntry bif_table[], utils/make_tables 25.2.3:227, 29.1.1:229): the C
 * function of each BIF.
 *
 * The table is found by its symbol. Without a symbol it is found by its form: the only long run of
 * rows in the executable's writable data that have two atoms, a small arity and two functions each.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/roots.h"
#include "beam/vm.h"

/* A row as it lies in the VM's memory. */
struct bif {
    uint64_t module, function; /* atoms */
    uint32_t arity, padding;
    uint64_t called;         /* the function that Erlang code calls; it schedules a dirty BIF */
    uint64_t implementation; /* the function that does the work */
    uint32_t kind, padding_2;
};

struct bif_table {
    struct bif *rows;
    size_t count;
};

/* Returns -1 with ERROR_UNSUPPORTED if there is no such table, or more than one. */
int bif_table_read(struct vm *vm, struct elf_file *executable, struct bif_table *table,
                   struct error *error);
void bif_table_free(struct bif_table *table);

/* A step of bif_table_read(), for tests: the only run of at least 100 rows in the data, or NULL if
 * there is none or more than one. The rows point into the bytes of `search`. */
const struct bif *bif_table_search(const struct roots_search *search, size_t *ret_count);
