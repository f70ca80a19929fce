// SPDX-License-Identifier: Apache-2.0
#include "output/dump/sections.h"

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
