// SPDX-License-Identifier: Apache-2.0
#include "profile/node_metrics.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/sorted.h"

static const struct {
    const char *name;
    enum unit unit;
} all[NODE_METRICS] = {
    [NODE_RESIDENT] = {"rss", UNIT_BYTES},
    [NODE_CARRIERS] = {"carriers", UNIT_BYTES},
    [NODE_BLOCKS] = {"blocks", UNIT_BYTES},
    [NODE_ATOMS] = {"atoms", UNIT_COUNT},
    [NODE_PROCESSES] = {"processes", UNIT_COUNT},
    [NODE_PORTS] = {"ports", UNIT_COUNT},
    [NODE_TABLES] = {"tables", UNIT_COUNT},
    [NODE_TABLE_BYTES] = {"table_bytes", UNIT_BYTES},
    [NODE_TABLE_OBJECTS] = {"table_objects", UNIT_COUNT},
    [NODE_PORT_QUEUE] = {"port_queue", UNIT_BYTES},
};

const char *node_metric_name(enum node_metric metric)
{
    return all[metric].name;
}

enum unit node_metric_unit(enum node_metric metric)
{
    return all[metric].unit;
}

void node_metrics_free(struct node_metrics *metrics)
{
    for (size_t i = 0; i < metrics->count; i++)
        free(metrics->of[i].list);
    free(metrics->of);
    hash_index_free(&metrics->index);
    *metrics = (struct node_metrics){0};
}

/* ---- series ---- */

static uint64_t hash_of(const struct node_series_key *key)
{
    return hash_bytes(key, sizeof(*key));
}

static bool is_same(const struct node_series_key *one, const struct node_series_key *other)
{
    return one->target == other->target && one->metric == other->metric && one->of == other->of &&
           one->id == other->id;
}

struct node_series *node_metrics_find(const struct node_metrics *metrics,
                                      const struct node_series_key *key)
{
    struct id_probe probe = id_index_probe(&metrics->index, hash_of(key));
    uint32_t position;

    while ((position = id_probe_next(&probe)))
        if (is_same(&metrics->of[position - 1].key, key))
            return &metrics->of[position - 1];
    return NULL;
}

struct node_series *node_metrics_place(struct node_metrics *metrics,
                                       const struct node_series_key *key)
{
    struct node_series *series = node_metrics_find(metrics, key);

    if (series || metrics->count == NODE_SERIES_MAX)
        return series;
    metrics->of = xgrow(metrics->of, &metrics->room, metrics->count, sizeof(*metrics->of));
    series = &metrics->of[metrics->count++];
    *series = (struct node_series){.key = *key};
    hash_index_add(&metrics->index, hash_of(key), (uint32_t)metrics->count);
    return series;
}

/* ---- readings ---- */

/* Keep every second reading, and the newest. */
static size_t make_coarser(struct node_series *series)
{
    size_t kept = 0;

    for (size_t i = 0; i < series->count; i++)
        if (i % 2 == 0 || i + 1 == series->count)
            series->list[kept++] = series->list[i];
    series->count = kept;
    return kept;
}

void node_metrics_add(struct node_metrics *metrics, struct node_series *series, uint64_t time,
                      uint64_t value)
{
    if (metrics->readings >= NODE_READINGS_MAX) {
        metrics->readings = 0;
        for (size_t i = 0; i < metrics->count; i++)
            metrics->readings += make_coarser(&metrics->of[i]);
    }
    series->list = xgrow(series->list, &series->room, series->count, sizeof(*series->list));
    series->list[series->count++] = (struct node_reading){time, value};
    metrics->readings++;
}

void node_metrics_clear(struct node_metrics *metrics)
{
    for (size_t i = 0; i < metrics->count; i++)
        metrics->of[i].count = 0;
    metrics->readings = 0;
}

static int by_time(const void *a, const void *b)
{
    const struct node_reading *one = a, *other = b;

    return (one->time > other->time) - (one->time < other->time);
}

void node_metrics_settle(struct node_metrics *metrics)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (metrics->of[i].count)
            qsort(metrics->of[i].list, metrics->of[i].count, sizeof(*metrics->of[i].list), by_time);
}

const struct node_reading *node_metrics_series_at(const struct node_series *series, uint64_t time)
{
    size_t until = sorted_until(series->list, series->count, sizeof(*series->list), time);

    return &series->list[until ? until - 1 : 0];
}

/* ---- bytes ---- */

void node_metrics_encode_series(const struct node_series *series, size_t first, size_t count,
                                struct buffer *bytes)
{
    struct node_reading last = {0};

    buffer_varint(bytes, series->key.target);
    buffer_varint(bytes, series->key.metric);
    buffer_varint(bytes, series->key.of);
    buffer_varint(bytes, series->key.id);
    buffer_varint(bytes, series->owner);
    buffer_varint(bytes, count);
    for (size_t i = first; i < first + count; i++) {
        buffer_zigzag(bytes, (int64_t)(series->list[i].time - last.time));
        buffer_zigzag(bytes, (int64_t)(series->list[i].value - last.value));
        last = series->list[i];
    }
}

void node_metrics_decode_series(struct node_metrics *metrics, const struct profile *profile,
                                const struct id_map *strings, struct cursor *cursor)
{
    struct profile_counts counts = profile_counts(profile);
    struct node_series_key key = {
        .target = (target_id)cursor_varint(cursor, counts.targets, "target is not defined"),
        .metric = (uint32_t)cursor_varint(cursor, NODE_METRICS - 1, "unknown metric of the VM"),
        .of = id_map_decode(strings, cursor, "string is not defined"),
        .id = id_map_decode(strings, cursor, "string is not defined"),
    };
    process_id owner =
        (process_id)cursor_varint(cursor, counts.processes, "process is not defined");
    uint64_t count = cursor_varint(cursor, UINT64_MAX, "");
    struct node_reading last = {0};
    struct node_series *series;

    if (!key.target)
        cursor_fail(cursor, "metric without a target");
    if (cursor->problem)
        return;
    series = node_metrics_place(metrics, &key);
    if (!series) {
        cursor_fail(cursor, "too many metrics of the VM");
        return;
    }
    series->owner = owner;
    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        last.time = cursor_delta(cursor, last.time, UINT64_MAX, "");
        last.value = cursor_delta(cursor, last.value, UINT64_MAX, "");
        if (!cursor->problem)
            node_metrics_add(metrics, series, last.time, last.value);
    }
}
