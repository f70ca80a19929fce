// SPDX-License-Identifier: Apache-2.0
#include "session/node_watch.h"

#include <stdlib.h>

#include "beam/allocators.h"
#include "beam/atom.h"
#include "beam/ets_tables.h"
#include "beam/ports.h"
#include "profile/dump.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

static const uint64_t SECOND = 1000000000;

enum {
    COST_FACTOR = 100, /* time between readings for each ns that one takes */
    LAST_MS = 200,     /* a last reading may take about this long */
    TABLE_LEAST = 32 << 10,
    LARGEST = 1024, /* tables, and ports, of which one reading adds to the series */
};

/* A table or port that has a value. */
struct thing {
    uint64_t value; /* bytes */
    union {
        struct ets_table table;
        struct port_info port;
    };
};

struct things {
    struct thing *list;
    size_t count, room;
};

struct node_watch {
    struct vm *vm;
    uint32_t sections;
    struct atoms *atoms;
    uint64_t began;  /* of the segment that has the readings before */
    uint64_t before; /* time of these readings; 0: there are none in this segment */
    uint64_t took;   /* ns that they took */
    uint64_t due;
};

/* One reading of all that is watched. */
struct round {
    struct node_watch *watch;
    struct symbolizer *symbolizer;
    struct segment *segment;
    target_id target;
    uint64_t now;
    struct things tables, ports;
    uint64_t table_count, uncounted, table_bytes, table_objects, port_bytes;
};

struct node_watch *node_watch_new(struct vm *vm, uint32_t sections)
{
    struct node_watch *watch = xcalloc(1, sizeof(*watch));

    watch->vm = vm;
    watch->sections = sections;
    watch->atoms = atoms_new(vm);
    return watch;
}

void node_watch_free(struct node_watch *watch)
{
    if (!watch)
        return;
    atoms_free(watch->atoms);
    free(watch);
}

/* ---- series ---- */

/* Add a value to its series if it is not the newest one. `begins_at_0`: if the series is new, its
 * value was 0 before. Return the series; NULL if there are too many. */
static struct node_series *put(const struct round *round, const struct node_series_key *key,
                               uint64_t value, bool begins_at_0)
{
    struct node_metrics *metrics = &round->segment->node_metrics;
    struct node_watch *watch = round->watch;
    struct node_series *series = node_metrics_place(metrics, key);

    if (!series) {
        round->segment->totals.losses[LOSS_METRICS]++;
        return NULL;
    }
    if (!series->read_at && begins_at_0 && watch->before)
        node_metrics_add(metrics, series, watch->before, 0);
    if (!series->read_at || series->newest != value)
        node_metrics_add(metrics, series, round->now, value);
    series->newest = value;
    series->read_at = round->now;
    return series;
}

static void put_whole(const struct round *round, enum node_metric metric, uint64_t value)
{
    put(round, &(struct node_series_key){.target = round->target, .metric = metric}, value, false);
}

/* An owner that was found is not looked up again. */
static void put_thing(const struct round *round, const struct node_series_key *key, uint64_t value,
                      uint64_t owner)
{
    struct node_series *series = put(round, key, value, true);

    if (series && owner && !series->owner)
        series->owner = symbolizer_process(round->symbolizer, owner, round->now);
}

/* End the series of tables or ports that have ended or become small: those that were not read now.
 * If there are more than LARGEST things, not all were read, and all series keep their newest value.
 */
static void end_series(const struct round *round, const struct things *things,
                       enum node_metric metric)
{
    struct node_metrics *metrics = &round->segment->node_metrics;

    if (things->count > LARGEST)
        return;
    for (size_t i = 0; i < metrics->count; i++) {
        struct node_series *series = &metrics->of[i];

        if (series->key.target != round->target || series->key.metric != metric ||
            !series->key.id || series->read_at == round->now || !series->newest)
            continue;
        node_metrics_add(metrics, series, round->now, 0);
        series->newest = 0;
    }
}

/* ---- memory ---- */

static void put_allocator(const struct round *round, const struct allocator *allocator)
{
    struct node_series_key key = {
        .target = round->target,
        .metric = NODE_CARRIERS,
        .of = allocator->name[0] ? profile_string_z(round->segment->profile, allocator->name) : 0,
    };

    put(round, &key, dump_allocator_carriers(allocator), false);
    key.metric = NODE_BLOCKS;
    put(round, &key, allocator->blocks, false);
}

static void put_use(const struct round *round, enum node_metric metric, const struct table_use *use)
{
    if (use->limit)
        put_whole(round, metric, use->count);
}

static void read_memory(const struct round *round)
{
    struct memory_use use;
    struct allocator total;

    node_memory_read(round->watch->vm, &use);
    if (use.resident)
        put_whole(round, NODE_RESIDENT, use.resident);
    put_use(round, NODE_ATOMS, &use.atoms);
    put_use(round, NODE_PROCESSES, &use.processes);
    put_use(round, NODE_PORTS, &use.ports);
    if (!use.allocators.count)
        return;
    total = dump_allocators_total(&use.allocators);
    put_allocator(round, &total);
    for (size_t i = 0; i < use.allocators.count; i++)
        put_allocator(round, &use.allocators.of[i]);
}

/* ---- tables and ports ---- */

static struct thing *add_thing(struct things *things, uint64_t value)
{
    things->list = xgrow(things->list, &things->room, things->count, sizeof(*things->list));
    things->list[things->count].value = value;
    return &things->list[things->count++];
}

static int by_value(const void *a, const void *b)
{
    const struct thing *one = a, *other = b;

    return (one->value < other->value) - (one->value > other->value);
}

/* Sort the largest to the front, and return how many of them may get series. */
static size_t largest(struct things *things)
{
    if (things->count)
        qsort(things->list, things->count, sizeof(*things->list), by_value);
    return things->count < LARGEST ? things->count : LARGEST;
}

static void take_table(void *context, const struct ets_table *table)
{
    struct round *round = context;

    round->table_count++;
    round->uncounted += !table->facts.is_counted;
    round->table_bytes += table->facts.bytes;
    round->table_objects += table->facts.objects;
    if ((table->facts.bytes >= TABLE_LEAST || !table->facts.is_counted) && table->has_reference)
        add_thing(&round->tables, table->facts.bytes)->table = *table;
}

/* The size of a table that can't be counted now is unknown: it keeps its newest value. */
static void put_fact(const struct round *round, const struct node_series_key *key,
                     const struct ets_table *table, uint64_t value)
{
    struct node_series *series;

    if (table->facts.is_counted)
        put_thing(round, key, value, table->owner);
    else if ((series = node_metrics_find(&round->segment->node_metrics, key)))
        series->read_at = round->now;
}

static void put_table(const struct round *round, const struct ets_table *table)
{
    struct profile *profile = round->segment->profile;
    const char *name = atom_text(round->watch->atoms, table->name);
    char reference[ETS_REFERENCE_BYTES];
    struct node_series_key key = {.target = round->target, .metric = NODE_TABLE_BYTES};

    ets_tables_reference_text(table, reference);
    key.of = name ? profile_string_z(profile, atom_shown(name)) : 0;
    key.id = profile_string_z(profile, reference);
    put_fact(round, &key, table, table->facts.bytes);
    key.metric = NODE_TABLE_OBJECTS;
    put_fact(round, &key, table, table->facts.objects);
}

static void read_tables(struct round *round)
{
    struct ets_counts counts = {0};
    size_t count;

    if (!ets_tables_each(round->watch->vm, take_table, round, &counts) || counts.lost)
        return;
    put_whole(round, NODE_TABLES, round->table_count);
    if (!round->uncounted) {
        put_whole(round, NODE_TABLE_BYTES, round->table_bytes);
        put_whole(round, NODE_TABLE_OBJECTS, round->table_objects);
    }
    count = largest(&round->tables);
    for (size_t i = 0; i < count; i++)
        put_table(round, &round->tables.list[i].table);
    end_series(round, &round->tables, NODE_TABLE_BYTES);
    end_series(round, &round->tables, NODE_TABLE_OBJECTS);
}

static bool take_port(void *context, const struct port_info *port)
{
    struct round *round = context;

    round->port_bytes += port->queue;
    if (port->queue)
        add_thing(&round->ports, port->queue)->port = *port;
    return true;
}

static void put_port(const struct round *round, const struct port_info *port)
{
    struct profile *profile = round->segment->profile;
    const struct node_series_key key = {
        .target = round->target,
        .metric = NODE_PORT_QUEUE,
        .of = port->driver[0] ? profile_string_z(profile, port->driver) : 0,
        .id = profile_string_z(profile, port->text),
    };

    put_thing(round, &key, port->queue, port->owner);
}

static void read_ports(struct round *round)
{
    struct port_counts counts = {0};
    struct error unknown;
    size_t count;

    if (ports_each(round->watch->vm, take_port, round, &counts, &unknown) || counts.lost)
        return;
    put_whole(round, NODE_PORT_QUEUE, round->port_bytes);
    count = largest(&round->ports);
    for (size_t i = 0; i < count; i++)
        put_port(round, &round->ports.list[i].port);
    end_series(round, &round->ports, NODE_PORT_QUEUE);
}

/* ---- readings ---- */

static void read_all(struct node_watch *watch, const struct target *target, struct segment *segment,
                     uint64_t now)
{
    struct round round = {
        .watch = watch,
        .symbolizer = target->symbolizer,
        .segment = segment,
        .target = symbolizer_target(target->symbolizer),
        .now = now,
    };

    if (watch->began != segment->begin)
        watch->before = 0;
    watch->began = segment->begin;
    if (watch->sections >> DUMP_MEMORY & 1)
        read_memory(&round);
    if (watch->sections >> DUMP_TABLES & 1)
        read_tables(&round);
    if (watch->sections >> DUMP_PORTS & 1)
        read_ports(&round);
    free(round.tables.list);
    free(round.ports.list);
    watch->took = clock_ns(CLOCK_MONOTONIC) - now;
    if (!watch->before)
        log_detail("node metrics", "the metrics of process %d are read in %.1f ms",
                   (int)watch->vm->pid, (double)watch->took / 1e6);
    watch->before = now;
    watch->due = now + (COST_FACTOR * watch->took > SECOND ? COST_FACTOR * watch->took : SECOND);
}

static bool is_due(const struct node_watch *watch, const struct segment *segment, uint64_t now,
                   bool is_last)
{
    if (is_last)
        return watch->took < LAST_MS * (SECOND / 1000);
    return now >= watch->due || watch->began != segment->begin;
}

void node_watches_step(const struct targets *targets, struct segment *segment, bool is_last)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = targets->of[i];
        uint64_t now = clock_ns(CLOCK_MONOTONIC);

        if (target->node_watch && !target->ended &&
            is_due(target->node_watch, segment, now, is_last) && target_is_readable(target))
            read_all(target->node_watch, target, segment, now);
    }
}
