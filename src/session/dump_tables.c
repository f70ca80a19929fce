// SPDX-License-Identifier: Apache-2.0
#include "session/dump_tables.h"

#include <time.h>

#include "beam/atom.h"
#include "beam/ets_tables.h"
#include "util/clock.h"

struct table_taker {
    struct symbolizer *symbolizer;
    struct profile *profile;
    struct atoms *atoms;
    struct dump_tables *tables;
};

static string_id reference_of(struct profile *profile, const struct ets_table *table)
{
    char text[ETS_REFERENCE_BYTES];

    if (!table->has_reference)
        return 0;
    ets_reference_text(table, text);
    return profile_string_z(profile, text);
}

static void take(void *context, const struct ets_table *table)
{
    const struct table_taker *taker = context;
    const char *name = atom_text(taker->atoms, table->name);
    struct dump_table taken = {.facts = table->facts};

    if (name)
        taken.name = profile_string_z(taker->profile, atom_shown(name));
    taken.reference = reference_of(taker->profile, table);
    taken.owner = symbolizer_process(taker->symbolizer, table->owner, clock_ns(CLOCK_MONOTONIC));
    dump_tables_add(taker->tables, &taken);
}

void dump_tables_take(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                      struct dump_tables *tables)
{
    struct table_taker taker = {symbolizer, profile, atoms_new(vm), tables};
    struct ets_counts counts = {0};

    tables->is_known = ets_tables_each(vm, take, &taker, &counts);
    tables->deleted = counts.deleted;
    tables->lost = counts.lost;
    dump_tables_sort(tables);
    atoms_free(taker.atoms);
}
