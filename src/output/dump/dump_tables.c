// SPDX-License-Identifier: Apache-2.0
#include "output/dump/writers.h"

#include "output/number_text.h"
#include "output/summary/summary_text.h"

enum { TABLES_SHOWN = 10 };

static void write_table(FILE *file, const struct profile *profile, const struct dump_table *table)
{
    const struct table_facts *facts = &table->facts;
    struct buffer owner = {0};
    struct number_text bytes = {"?"}, objects = {"?"};

    if (facts->is_counted) {
        bytes = number_text_amount(facts->bytes, UNIT_BYTES);
        objects = number_text(facts->objects);
    }
    if (table->owner)
        summary_text_of_process(profile, table->owner, &owner);
    else
        buffer_text(&owner, "?");
    fprintf(file, "  %9s  %-30s %11s objects  %-13s %-9s  %.*s\n", bytes.text,
            profile_text(profile, table->name), objects.text,
            dump_table_type_name((enum table_type)facts->type),
            dump_table_protection_name((enum table_protection)facts->protection), (int)owner.size,
            owner.data);
    buffer_free(&owner);
}

/* Write the totals, and the tables that they lack. */
static void write_totals(FILE *file, const struct dump_tables *tables)
{
    uint64_t bytes = 0, uncounted = 0;

    for (size_t i = 0; i < tables->count; i++) {
        bytes += tables->list[i].facts.bytes;
        uncounted += !tables->list[i].facts.is_counted;
    }
    fprintf(file, "%s ETS tables: %s", number_text(tables->count).text,
            number_text_amount(bytes, UNIT_BYTES).text);
    if (tables->count > TABLES_SHOWN)
        fprintf(file, "; the %d largest:", TABLES_SHOWN);
    putc('\n', file);
    if (uncounted)
        fprintf(file, "the size of %s is not known\n", number_text(uncounted).text);
    if (tables->lost)
        fprintf(file, "%s others could not be read\n", number_text(tables->lost).text);
}

void dump_tables_text(FILE *file, const struct dump *dump)
{
    const struct dump_tables *tables = &dump->tables;

    if (!tables->is_known) {
        fprintf(file, "ETS tables: not known for this OTP release\n");
        return;
    }
    write_totals(file, tables);
    for (size_t i = 0; i < tables->count && i < TABLES_SHOWN; i++)
        write_table(file, dump->profile, &tables->list[i]);
}

/* ---- JSON ---- */

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
