// SPDX-License-Identifier: Apache-2.0
#include "native/mappings.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/patience.h"
#include "util/alloc.h"
#include "util/clock.h"

enum { COST_FACTOR = 100 }; /* time between two readings for each ns that one takes */

static const uint64_t REREAD_NS = 100000000;

/* [start, end) */
struct range {
    uint64_t start, end;
};

struct range_list {
    struct range *of; /* ascending */
    size_t count, room;
};

struct mapped_ranges {
    pid_t pid;
    pthread_mutex_t lock; /* guards what follows */
    struct range_list list;
    uint64_t due; /* ns, CLOCK_MONOTONIC: of the next reading */
};

struct mapped_ranges *mapped_ranges_new(pid_t pid)
{
    struct mapped_ranges *ranges = xcalloc(1, sizeof(*ranges));

    ranges->pid = pid;
    pthread_mutex_init(&ranges->lock, NULL);
    return ranges;
}

void mapped_ranges_free(struct mapped_ranges *ranges)
{
    if (!ranges)
        return;
    pthread_mutex_destroy(&ranges->lock);
    free(ranges->list.of);
    free(ranges);
}

/* ---- reading ---- */

struct reading {
    pid_t pid;
    struct range_list list;
};

static void drop_reading(void *work)
{
    struct reading *reading = work;

    free(reading->list.of);
    free(reading);
}

static void add(struct range_list *list, struct range range)
{
    if (list->count && list->of[list->count - 1].end == range.start) {
        list->of[list->count - 1].end = range.end;
        return;
    }
    list->of = xgrow(list->of, &list->room, list->count, sizeof(*list->of));
    list->of[list->count++] = range;
}

static void read_maps(void *work)
{
    struct reading *reading = work;
    char path[32], *line = NULL;
    size_t line_size = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)reading->pid);
    file = fopen(path, "re");
    if (!file)
        return;
    while (getline(&line, &line_size, file) > 0) {
        struct range range;
        char readable;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &range.start, &range.end, &readable) == 3 &&
            readable == 'r')
            add(&reading->list, range);
    }
    free(line);
    fclose(file);
}

static void read_list(struct mapped_ranges *ranges, uint64_t now)
{
    struct reading *reading = xcalloc(1, sizeof(*reading));
    uint64_t took;

    reading->pid = ranges->pid;
    free(ranges->list.of);
    ranges->list = (struct range_list){0};
    if (patience_run(read_maps, drop_reading, reading)) {
        ranges->list = reading->list;
        free(reading);
    }
    took = clock_ns(CLOCK_MONOTONIC) - now;
    ranges->due = now + (COST_FACTOR * took > REREAD_NS ? COST_FACTOR * took : REREAD_NS);
}

/* ---- looking up ---- */

static int compare(const void *key, const void *element)
{
    uint64_t address = *(const uint64_t *)key;
    const struct range *range = element;

    return address < range->start ? -1 : address >= range->end;
}

static bool has(const struct range_list *list, uint64_t address)
{
    return list->count && bsearch(&address, list->of, list->count, sizeof(*list->of), compare);
}

bool mapped_ranges_have(struct mapped_ranges *ranges, uint64_t address)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool found;

    pthread_mutex_lock(&ranges->lock);
    if (!has(&ranges->list, address) && now >= ranges->due)
        read_list(ranges, now);
    found = !ranges->list.count || has(&ranges->list, address);
    pthread_mutex_unlock(&ranges->lock);
    return found;
}
