// SPDX-License-Identifier: Apache-2.0
#include "profile/dump_tables.h"

#include <stdlib.h>

#include "util/alloc.h"

const char *dump_table_type_name(enum table_type type)
{
    static const char *const names[] = {
        [TABLE_SET] = "set",
        [TABLE_ORDERED_SET] = "ordered_set",
        [TABLE_BAG] = "bag",
        [TABLE_DUPLICATE_BAG] = "duplicate_bag",
    };

    return names[type];
}

const char *dump_table_protection_name(enum table_protection protection)
{
    static const char *const names[] = {
        [TABLE_PRIVATE] = "private",
        [TABLE_PROTECTED] = "protected",
        [TABLE_PUBLIC] = "public",
    };

    return names[protection];
}

void dump_tables_free(struct dump_tables *tables)
{
    free(tables->list);
    *tables = (struct dump_tables){0};
}

void dump_tables_add(struct dump_tables *tables, const struct dump_table *table)
{
    tables->list = xgrow(tables->list, &tables->room, tables->count, sizeof(*tables->list));
    tables->list[tables->count++] = *table;
}

/* By memory; tables of equal memory by name and reference, in the order in which these were seen.
 */
static int by_memory(const void *a, const void *b)
{
    const struct dump_table *x = a, *y = b;

    if (x->facts.is_counted != y->facts.is_counted)
        return x->facts.is_counted ? -1 : 1;
    if (x->facts.bytes != y->facts.bytes)
        return x->facts.bytes > y->facts.bytes ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->reference > y->reference) - (x->reference < y->reference);
}

void dump_tables_sort(struct dump_tables *tables)
{
    if (tables->count)
        qsort(tables->list, tables->count, sizeof(*tables->list), by_memory);
}
