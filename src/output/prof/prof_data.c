// SPDX-License-Identifier: Apache-2.0
/* Tables as CSV (RFC 4180) and as one JSON object (docs/json.md), with exact numbers. */
#include "output/prof/prof_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "output/json/json.h"
#include "util/number.h"

/* ---- CSV ---- */

/* Write a field in quotes if it has what separates fields. */
static void put_text(FILE *file, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

/* Write own time in us, exact to the ns; words as they are. */
static void put_own(FILE *file, const struct prof_tables *tables, uint64_t own)
{
    if (prof_tables_unit(tables) == UNIT_NS)
        fprintf(file, ",%" PRIu64 ".%03" PRIu64, own / 1000, own % 1000);
    else
        fprintf(file, ",%" PRIu64, own);
}

/* Write nothing for a half that is unknown. */
static void put_half(FILE *file, double half)
{
    if (isnan(half))
        putc(',', file);
    else
        fprintf(file, ",%" PRIu64, whole_part(ceil(half)));
}

static void put_decimal(FILE *file, const struct prof_tables *tables, double number)
{
    if (isnan(number))
        putc(',', file);
    else
        fprintf(file, ",%.3f", prof_tables_unit(tables) == UNIT_NS ? number / 1000 : number);
}

static void put_process(FILE *file, const struct prof_tables *tables,
                        const struct prof_table *table)
{
    put_text(file, prof_tables_node(tables, table));
    putc(',', file);
    put_text(file, prof_tables_pid(tables, table));
    putc(',', file);
    put_text(file, table->folded ? "other processes" : prof_tables_name(tables, table));
    putc(',', file);
}

static void put_end(FILE *file, const struct prof_table *table, uint64_t own, uint64_t samples)
{
    fprintf(file, ",%.2f,%" PRIu64 "\r\n", number_text_percent(own, table->own), samples);
}

static void put_row(FILE *file, const struct prof_tables *tables, const struct prof_table *table,
                    const struct prof_row *row)
{
    put_process(file, tables, table);
    put_text(file, row->function);
    if (row->has_calls) {
        fprintf(file, ",%" PRIu64, row->calls);
        put_half(file, row->calls_half);
    } else {
        fputs(",,", file);
    }
    if (tables->event) {
        put_own(file, tables, row->own);
        if (isnan(row->own_half))
            putc(',', file);
        else
            put_own(file, tables, whole_part(ceil(row->own_half)));
        put_decimal(file, tables, prof_row_per_call(row));
        put_decimal(file, tables, prof_row_per_call_half(row));
    }
    put_end(file, table, row->own, row->samples);
}

static void put_rest(FILE *file, const struct prof_tables *tables, const struct prof_table *table)
{
    put_process(file, tables, table);
    fputs("other", file);
    if (tables->event) {
        fputs(",,", file);
        put_own(file, tables, table->rest.value);
        fputs(",,,", file);
    } else {
        fprintf(file, ",%" PRIu64 ",", table->rest.value);
    }
    put_end(file, table, table->rest.value, table->rest.samples);
}

void prof_data_write_csv(FILE *file, const struct prof_tables *tables)
{
    fputs("node,pid,process,function,calls,calls_half", file);
    if (tables->event && prof_tables_unit(tables) == UNIT_NS)
        fputs(",time_us,time_half_us,us_per_call,us_per_call_half", file);
    else if (tables->event)
        fputs(",words,words_half,words_per_call,words_per_call_half", file);
    fputs(",percent,samples\r\n", file);
    for (size_t i = 0; i < tables->count; i++) {
        const struct prof_table *table = &tables->list[i];

        for (size_t row = 0; row < table->count; row++)
            put_row(file, tables, table, &table->rows[row]);
        if (table->rest.value)
            put_rest(file, tables, table);
    }
}

/* ---- JSON ---- */

static void json_half(struct json *json, const char *key, double half)
{
    if (isnan(half))
        json_null(json, key);
    else
        json_number(json, key, whole_part(ceil(half)));
}

static void json_per_call(struct json *json, const char *key, double number)
{
    if (isnan(number))
        json_null(json, key);
    else
        json_decimal(json, key, number, 3);
}

static void json_function(struct json *json, const struct prof_tables *tables,
                          const struct prof_row *row)
{
    json_open(json, NULL, '{');
    json_text(json, "function", row->function);
    if (row->has_calls) {
        json_number(json, "calls", row->calls);
        json_half(json, "calls_half", row->calls_half);
    } else {
        json_null(json, "calls");
        json_null(json, "calls_half");
    }
    if (tables->event) {
        json_number(json, "own", row->own);
        json_half(json, "own_half", row->own_half);
        json_per_call(json, "own_per_call", prof_row_per_call(row));
        json_per_call(json, "own_per_call_half", prof_row_per_call_half(row));
    }
    json_number(json, "samples", row->samples);
    json_close(json, '}');
}

static void json_table(struct json *json, const struct prof_tables *tables,
                       const struct prof_table *table)
{
    json_open(json, NULL, '{');
    if (table->is_process) {
        json_text_or_null(json, "node", prof_tables_node(tables, table));
        json_text_or_null(json, "pid", prof_tables_pid(tables, table));
        json_text_or_null(json, "name", prof_tables_name(tables, table));
    }
    json_number_if(json, "processes", table->folded);
    json_number(json, "sum", table->own);
    json_half(json, "sum_half", table->own_half);
    json_number(json, "samples", table->samples);
    json_open_lines(json, "functions", '[');
    for (size_t i = 0; i < table->count; i++)
        json_function(json, tables, &table->rows[i]);
    json_close(json, ']');
    json_open(json, "other", '{');
    json_number(json, "functions", table->rest.rows);
    json_number(json, "sum", table->rest.value);
    json_number(json, "samples", table->rest.samples);
    json_close(json, '}');
    json_close(json, '}');
}

void prof_data_write_json(FILE *file, const struct prof_tables *tables)
{
    static const char *const types[] = {"time", "memory", "count"};
    const struct profile *profile = tables->source->profile;
    struct json json = {file};

    json_open_lines(&json, NULL, '{');
    json_text(&json, "type", types[tables->options->type]);
    json_text(&json, "unit", profile_unit_name(prof_tables_unit(tables)));
    if (tables->event)
        json_text(&json, "event",
                  profile_text(profile, profile_get_event(profile, tables->event)->name));
    else
        json_null(&json, "event");
    json_number(&json, "sum", tables->own);
    json_number(&json, "samples", tables->samples);
    json_open_lines(&json, "tables", '[');
    for (size_t i = 0; i < tables->count; i++)
        json_table(&json, tables, &tables->list[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    putc('\n', file);
}
