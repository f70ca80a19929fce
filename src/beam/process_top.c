// SPDX-License-Identifier: Apache-2.0
#include "beam/process_sweep.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "beam/process_metrics.h"
#include "util/alloc.h"
#include "vm_constants.h"

/*
 * The growth of a value of each process between two sweeps over all processes.
 *
 * A sweep visits processes in the order of the table, so two sweeps are compared like two sorted
 * lists. This takes 32 bytes per process, whatever the size of the table.
 */

/* Processes with the same index follow each other in time. 32 bits of their pid terms (beam/term.c)
 * distinguish them, because fewer than 2^32 processes are spawned between two sweeps. */
struct noted {
    uint64_t value;
    uint32_t index, data;
};

struct process_growth {
    struct noted *before, *now;
    size_t before_count, before_room, now_count, now_room;
    size_t at; /* in `before`: entries in front of it have lower indices than the next call */
};

static struct process_growth *process_growth_new(void)
{
    return xcalloc(1, sizeof(struct process_growth));
}

static void process_growth_free(struct process_growth *growth)
{
    if (!growth)
        return;
    free(growth->before);
    free(growth->now);
    free(growth);
}

/* Begin a sweep: its values will be compared with those noted since the last call. */
static void process_growth_begin(struct process_growth *growth)
{
    *growth = (struct process_growth){
        .before = growth->now,
        .before_count = growth->now_count,
        .before_room = growth->now_room,
        .now = growth->before,
        .now_room = growth->before_room,
    };
}

static void note(struct process_growth *growth, const struct noted *noted)
{
    growth->now = xgrow(growth->now, &growth->now_room, growth->now_count, sizeof(*growth->now));
    growth->now[growth->now_count++] = *noted;
}

/* The entry of this process in the last sweep; NULL if there is none. */
static const struct noted *find(struct process_growth *growth, const struct noted *noted)
{
    const struct noted *found;

    while (growth->at < growth->before_count && growth->before[growth->at].index < noted->index)
        growth->at++;
    if (growth->at == growth->before_count)
        return NULL;
    found = &growth->before[growth->at];
    return found->index == noted->index && found->data == noted->data ? found : NULL;
}

/* Note the value of the process with this pid term at this index of the table; UINT64_MAX if the
 * value is unknown. The index must be above the index of the last call. Fills *grown with the
 * growth since the last sweep, counted from 0 for a new process. False if the growth is unknown. */
static bool process_growth_note(struct process_growth *growth, uint64_t index, uint64_t id,
                                uint64_t value, int64_t *grown)
{
    const struct noted noted = {value, (uint32_t)index, (uint32_t)(id >> TAG_IMMED1_SIZE)};
    const struct noted *before = find(growth, &noted);

    note(growth, &noted);
    *grown = (int64_t)(value - (before ? before->value : 0));
    return value != UINT64_MAX && !(before && before->value == UINT64_MAX);
}

struct ranked {
    int64_t value;
    uint64_t id, index;
};

struct process_top {
    enum metric metric;
    struct process_growth *growth; /* NULL: ranked by value */
    const struct vm *vm;
    struct ranked *ranked; /* a binary heap, the lowest rank first; sorted by id after a search */
    uint64_t *indices;     /* of the ranked processes */
    size_t count, wanted;
};

bool process_top_ranks(enum metric metric)
{
    return metric != METRIC_MEMORY && metric != METRIC_BINARIES;
}

struct process_top *process_top_new(size_t count, enum metric metric, bool by_growth)
{
    struct process_top *top = xcalloc(1, sizeof(*top));

    top->metric = metric;
    top->growth = by_growth ? process_growth_new() : NULL;
    top->wanted = count;
    top->ranked = xcalloc(count, sizeof(*top->ranked));
    top->indices = xcalloc(count, sizeof(*top->indices));
    return top;
}

void process_top_free(struct process_top *top)
{
    if (!top)
        return;
    process_growth_free(top->growth);
    free(top->ranked);
    free(top->indices);
    free(top);
}

/* Among equal values the process with the lower id ranks higher; it is the older one. */
static bool is_less(const struct ranked *a, const struct ranked *b)
{
    return a->value != b->value ? a->value < b->value : a->id > b->id;
}

static void swap(struct ranked *a, struct ranked *b)
{
    struct ranked c = *a;

    *a = *b;
    *b = c;
}

static void sift_up(struct ranked *heap, size_t at)
{
    for (; at && is_less(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(struct ranked *heap, size_t count)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && is_less(&heap[child + 1], &heap[child]))
            child++;
        if (!is_less(&heap[child], &heap[at]))
            return;
        swap(&heap[child], &heap[at]);
        at = child;
    }
}

/* The value or growth of a process; false if unknown. */
static bool value_of(struct process_top *top, const struct swept_process *process, uint64_t id,
                     int64_t *value)
{
    struct metrics metrics = {0};
    uint64_t now;
    bool known;

    process_metrics_read(top->vm, process->bytes, NULL, &metrics);
    known = metrics_know(&metrics, top->metric) && metrics.values[top->metric] <= INT64_MAX;
    now = known ? metrics.values[top->metric] : UINT64_MAX;
    if (top->growth)
        return process_growth_note(top->growth, process->index, id, now, value);
    *value = (int64_t)now;
    return known;
}

static void rank(void *context, const struct swept_process *process)
{
    struct process_top *top = context;
    struct ranked ranked = {.id = swept_process_id(top->vm, process), .index = process->index};

    if (!value_of(top, process, ranked.id, &ranked.value))
        return;
    if (top->count < top->wanted) {
        top->ranked[top->count] = ranked;
        sift_up(top->ranked, top->count++);
    } else if (is_less(&top->ranked[0], &ranked)) {
        top->ranked[0] = ranked;
        sift_down(top->ranked, top->count);
    }
}

static int by_id(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int process_top_find(struct process_top *top, struct vm *vm, struct process_sweep *sweep,
                     struct sweep_counts *counts, struct error *error)
{
    int result;

    top->vm = vm;
    top->count = 0;
    if (top->growth)
        process_growth_begin(top->growth);
    result = process_sweep_run(sweep, &(struct sweep_request){.visit = rank, .context = top},
                               counts, error);
    for (size_t i = 0; i < top->count; i++)
        top->indices[i] = top->ranked[i].index;
    qsort(top->indices, top->count, sizeof(*top->indices), ascending);
    qsort(top->ranked, top->count, sizeof(*top->ranked), by_id);
    return result;
}

bool process_top_value(const struct process_top *top, uint64_t id, int64_t *value)
{
    const struct ranked key = {.id = id};
    const struct ranked *found =
        bsearch(&key, top->ranked, top->count, sizeof(*top->ranked), by_id);

    if (found)
        *value = found->value;
    return found;
}

const uint64_t *process_top_indices(const struct process_top *top, size_t *count)
{
    *count = top->count;
    return top->indices;
}
