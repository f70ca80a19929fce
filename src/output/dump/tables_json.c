// SPDX-License-Identifier: Apache-2.0
#include "output/dump/sections.h"

static void put_write_concurrency(struct json *json, enum table_concurrency concurrency)
{
    if (concurrency == TABLE_CONCURRENCY_AUTO)
        json_text(json, "write_concurrency", "auto");
    else
        json_bool(json, "write_concurrency", concurrency == TABLE_CONCURRENCY_TRUE);
}

static void put_table(struct json *json, const struct profile *profile,
                      const struct dump_table *table)
{
    const struct table_facts *facts = &table->facts;

    json_open(json, NULL, '{');
    dump_text_json(json, "name", profile, table->name);
    dump_text_json(json, "id", profile, table->reference);
    json_bool(json, "named_table", facts->is_named);
    json_text(json, "type", dump_table_type_name((enum table_type)facts->type));
    json_text(json, "protection",
              dump_table_protection_name((enum table_protection)facts->protection));
    dump_owner_json(json, profile, table->owner);
    if (facts->is_counted) {
        json_number(json, "size", facts->objects);
        json_number(json, "memory", facts->bytes);
    }
    json_number(json, "keypos", facts->keypos);
    json_bool(json, "compressed", facts->is_compressed);
    json_bool(json, "fixed", facts->is_fixed);
    json_bool(json, "read_concurrency", facts->read_concurrency);
    put_write_concurrency(json, (enum table_concurrency)facts->write_concurrency);
    json_close(json, '}');
}

void dump_tables_json(struct json *json, const struct dump *dump)
{
    const struct dump_tables *tables = &dump->tables;

    if (!tables->is_known) {
        json_null(json, "tables");
        return;
    }
    json_number(json, "tables_deleted", tables->deleted);
    json_number(json, "tables_lost", tables->lost);
    json_open_lines(json, "tables", '[');
    for (size_t i = 0; i < tables->count; i++)
        put_table(json, dump->profile, &tables->list[i]);
    json_close(json, ']');
}
