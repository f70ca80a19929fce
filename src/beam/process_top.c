// SPDX-License-Identifier: Apache-2.0
#include "beam/process_top.h"

#include <stdlib.h>

#include "beam/process_growth.h"
#include "beam/process_metrics.h"
#include "util/alloc.h"

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
