// SPDX-License-Identifier: Apache-2.0
#include "output/dump/writers.h"

#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"

/* What is in the blocks of an allocator (erl_alloc.types 27.3.4.1:69-83); "" if that is unknown. */
static const char *contents(const char *allocator)
{
    static const struct {
        const char *allocator, *contents;
    } known[] = {
        {"temp_alloc", "temporary data of one call"},
        {"sl_alloc", "short-lived data"},
        {"std_alloc", "other data"},
        {"ll_alloc", "tables, atoms, data of modules"},
        {"eheap_alloc", "heaps and messages of processes"},
        {"ets_alloc", "ETS tables"},
        {"fix_alloc", "process structs, monitors, links, timers"},
        {"literal_alloc", "constants of modules, persistent terms"},
        {"binary_alloc", "binaries above 64 bytes"},
        {"driver_alloc", "drivers and NIFs"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].allocator, allocator) == 0)
            return known[i].contents;
    return "";
}

/* By carriers, the largest first; then by name. */
static int by_carriers(const void *a, const void *b)
{
    uint64_t x = dump_allocator_carriers(a), y = dump_allocator_carriers(b);

    return x != y
               ? (y > x) - (y < x)
               : strcmp(((const struct allocator *)a)->name, ((const struct allocator *)b)->name);
}

/* "atoms 21,345 of 1,048,576 (2.0 %)" */
static void write_table(FILE *file, const char *before, const char *name,
                        const struct table_use *table)
{
    if (!table->limit) {
        fprintf(file, "%s%s unknown", before, name);
        return;
    }
    fprintf(file, "%s%s %s of %s (%.1f %%)", before, name, number_text(table->count).text,
            number_text(table->limit).text, number_text_percent(table->count, table->limit));
}

/* "RSS 812.0 MB (790.0 MB anonymous), carriers 780.0 MB, blocks 410.0 MB: 52.6 % of the carriers in
 * use" */
static void write_sums(FILE *file, const struct memory_use *use, const struct allocator *total)
{
    if (use->resident)
        fprintf(file, "  RSS %s (%s anonymous)", number_text_amount(use->resident, UNIT_BYTES).text,
                number_text_amount(use->anonymous, UNIT_BYTES).text);
    else
        fputs("  RSS unknown", file);
    if (use->allocators.count)
        fprintf(file, ", carriers %s, blocks %s: %.1f %% of the carriers in use\n",
                number_text_amount(dump_allocator_carriers(total), UNIT_BYTES).text,
                number_text_amount(total->blocks, UNIT_BYTES).text,
                number_text_percent(total->blocks, dump_allocator_carriers(total)));
    else
        fprintf(file, "; %s\n", use->unknown.text);
}

static void write_allocator(FILE *file, const struct allocator *allocator)
{
    uint64_t carriers = dump_allocator_carriers(allocator);
    char used[16] = "-";

    if (carriers)
        snprintf(used, sizeof(used), "%.1f %%", number_text_percent(allocator->blocks, carriers));
    fprintf(file, "  %-14s %10s %10s %8s %12s %12s %10s %10u  %s\n", allocator->name,
            number_text_amount(allocator->blocks, UNIT_BYTES).text,
            number_text_amount(carriers, UNIT_BYTES).text, used,
            number_text_amount(allocator->multi, UNIT_BYTES).text,
            number_text_amount(allocator->single, UNIT_BYTES).text,
            number_text_amount(allocator->pooled, UNIT_BYTES).text, allocator->instances,
            contents(allocator->name));
}

void dump_memory_text(FILE *file, const struct dump *dump)
{
    const struct memory_use *use = &dump->memory;
    const struct allocator total = dump_allocators_total(&use->allocators);
    struct allocators sorted = use->allocators;

    fputs("memory\n", file);
    write_sums(file, use, &total);
    write_table(file, "  ", "atoms", &use->atoms);
    write_table(file, ", ", "processes", &use->processes);
    write_table(file, ", ", "ports", &use->ports);
    putc('\n', file);
    if (!sorted.count)
        return;
    qsort(sorted.of, sorted.count, sizeof(sorted.of[0]), by_carriers);
    fprintf(file, "  %-14s %10s %10s %8s %12s %12s %10s %10s  %s\n", "allocator", "blocks",
            "carriers", "in use", "multi-block", "single-block", "in pool", "instances",
            "contents");
    for (size_t i = 0; i < sorted.count; i++)
        write_allocator(file, &sorted.of[i]);
}

/* ---- JSON ---- */

static void put_table(struct json *json, const char *key, const struct table_use *table)
{
    if (!table->limit) {
        json_null(json, key);
        return;
    }
    json_open(json, key, '{');
    json_number(json, "count", table->count);
    json_number(json, "limit", table->limit);
    json_close(json, '}');
}

static void put_resident(struct json *json, const struct memory_use *use)
{
    if (!use->resident) {
        json_null(json, "resident");
        return;
    }
    json_number(json, "resident", use->resident);
    json_number(json, "resident_anonymous", use->anonymous);
}

static void put_sizes(struct json *json, const struct allocator *allocator)
{
    json_number(json, "instances", allocator->instances);
    json_number(json, "carriers", dump_allocator_carriers(allocator));
    json_number(json, "multi_block_carriers", allocator->multi);
    json_number(json, "single_block_carriers", allocator->single);
    json_number(json, "pooled_carriers", allocator->pooled);
    json_number(json, "blocks", allocator->blocks);
    json_number(json, "allocated", allocator->allocated);
}

static void put_allocators(struct json *json, const struct memory_use *use)
{
    const struct allocator total = dump_allocators_total(&use->allocators);

    if (!use->allocators.count) {
        json_null(json, "allocators");
        json_text(json, "unknown", use->unknown.text);
        return;
    }
    json_open(json, "total", '{');
    put_sizes(json, &total);
    json_close(json, '}');
    json_open_lines(json, "allocators", '[');
    for (size_t i = 0; i < use->allocators.count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", use->allocators.of[i].name);
        put_sizes(json, &use->allocators.of[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void dump_memory_json(struct json *json, const struct dump *dump)
{
    const struct memory_use *use = &dump->memory;

    json_open(json, "memory", '{');
    put_resident(json, use);
    put_table(json, "atoms", &use->atoms);
    put_table(json, "processes", &use->processes);
    put_table(json, "ports", &use->ports);
    put_allocators(json, use);
    json_close(json, '}');
}
