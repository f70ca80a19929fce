// SPDX-License-Identifier: Apache-2.0
/* The ETS tables of a dump (profile/dump.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum table_type { TABLE_SET, TABLE_ORDERED_SET, TABLE_BAG, TABLE_DUPLICATE_BAG };
enum table_protection { TABLE_PRIVATE, TABLE_PROTECTED, TABLE_PUBLIC };
enum table_concurrency { TABLE_CONCURRENCY_FALSE, TABLE_CONCURRENCY_TRUE, TABLE_CONCURRENCY_AUTO };

/* What ets:info/1 says of a table. */
struct table_facts {
    uint64_t objects, bytes; /* 0 unless is_counted */
    uint32_t keypos;
    uint8_t type;              /* enum table_type */
    uint8_t protection;        /* enum table_protection */
    uint8_t write_concurrency; /* enum table_concurrency */
    bool read_concurrency, is_named, is_compressed, is_fixed;
    bool is_counted; /* objects and bytes are known */
};

struct dump_table {
    string_id name;
    string_id reference; /* "#Ref<0.1.2.3>"; 0: not known */
    process_id owner;    /* 0: not known */
    struct table_facts facts;
};

struct dump_tables {
    bool is_known; /* the layout of tables is known */
    struct dump_table *list;
    size_t count, room;
    uint64_t
        deleted;   /* tables that are being deleted, or were deleted meanwhile: not in the list */
    uint64_t lost; /* other tables that are not in the list: they could not be read */
};

/* "set", "public", as ets:new/2 has them. */
const char *table_type_name(enum table_type type);
const char *table_protection_name(enum table_protection protection);

void dump_tables_free(struct dump_tables *tables);
void dump_tables_add(struct dump_tables *tables, const struct dump_table *table);
/* Sort by memory, the largest first. Tables of unknown size come last. */
void dump_tables_sort(struct dump_tables *tables);
