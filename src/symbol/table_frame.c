// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <string.h>

#include "beam/ets_tables.h"
#include "util/alloc.h"

/* The BIFs of module ets whose first argument is a table (bif.tab of 25.2.3 and 27.3.4.1). The
 * argument of others need not be a table (new/2, whereis/1), or they have none. */
static const char *const of_a_table[] = {
    "delete/1",
    "delete/2",
    "delete_object/2",
    "first/1",
    "first_lookup/1",
    "give_away/3",
    "info/1",
    "info/2",
    "insert/2",
    "insert_new/2",
    "internal_delete_all/2",
    "internal_select_delete/2",
    "last/1",
    "last_lookup/1",
    "lookup/2",
    "lookup_element/3",
    "lookup_element/4",
    "match/2",
    "match/3",
    "match_object/2",
    "match_object/3",
    "member/2",
    "next/2",
    "next_lookup/2",
    "prev/2",
    "prev_lookup/2",
    "rename/2",
    "safe_fixtable/2",
    "select/2",
    "select/3",
    "select_count/2",
    "select_replace/2",
    "select_reverse/2",
    "select_reverse/3",
    "setopts/2",
    "slot/2",
    "take/2",
    "update_counter/3",
    "update_counter/4",
    "update_element/3",
    "update_element/4",
};

/* Those whose first argument is a continuation, a tuple whose first element is the table. The traps
 * continue a BIF that has used up its reductions (erl_db.c 25.2.3:3163, 25.2.3:3659, 25.2.3:3724,
 * 25.2.3:3827, 25.2.3:3918, 25.2.3:4578-4598, 27.3.4.1:3315, 27.3.4.1:3811, 27.3.4.1:3876,
 * 27.3.4.1:3979, 27.3.4.1:4070, 27.3.4.1:4730-4750). */
static const char *const of_a_continuation[] = {
    "count_trap/1", "match/1",          "match_object/1",       "replace_trap/1",
    "select/1",     "select_reverse/1", "select_delete_trap/1", "select_trap/1",
};

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

#define IS_AMONG(names, name) is_among(names, sizeof(names) / sizeof((names)[0]), name)

enum table_argument table_argument_of(const char *symbol)
{
    static const char module[] = "ets:";

    if (strncmp(symbol, module, strlen(module)) != 0)
        return ARGUMENT_OTHER;
    symbol += strlen(module);
    if (IS_AMONG(of_a_table, symbol))
        return ARGUMENT_TABLE;
    return IS_AMONG(of_a_continuation, symbol) ? ARGUMENT_CONTINUATION : ARGUMENT_OTHER;
}

/* The index of the frame that called the native code, or the number of frames. */
static size_t find_caller(const struct unwound *unwound)
{
    size_t i = 0;

    while (i < unwound->count &&
           (unwound->frames[i].kind == ADDRESS_KERNEL || unwound->frames[i].kind == ADDRESS_NATIVE))
        i++;
    return i;
}

/* The name of the table, an atom term. 0 if it is unknown. */
static uint64_t name_of(struct vm *vm, const struct wire_table *table)
{
    uint64_t name = table->name;

    return name || ets_table_name(vm, table->identifier, table->numbers, &name) ? name : 0;
}

void table_frame_add(struct frame_names *names, struct vm *vm, const struct snapshot *snapshot,
                     struct unwound *unwound)
{
    struct wire_table table;
    const uint8_t *bytes = snapshot_region(snapshot, REGION_TABLE, sizeof(table));
    size_t at = find_caller(unwound);
    enum table_argument argument;
    uint64_t name;

    if (!bytes || at == unwound->count)
        return;
    memcpy(&table, bytes, sizeof(table));
    argument = frame_names_argument(names, &unwound->frames[at]);
    if (argument != (table.continues ? ARGUMENT_CONTINUATION : ARGUMENT_TABLE))
        return;
    name = name_of(vm, &table);
    if (!name)
        return;
    unwound->frames =
        xgrow(unwound->frames, &unwound->room, unwound->count, sizeof(*unwound->frames));
    memmove(unwound->frames + at + 1, unwound->frames + at,
            (unwound->count - at) * sizeof(*unwound->frames));
    unwound->frames[at] = (struct unwound_frame){name, ADDRESS_TABLE, false};
    unwound->count++;
}
