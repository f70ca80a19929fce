// SPDX-License-Identifier: Apache-2.0
#include "beam/process_top.h"

#include <stdlib.h>

#include "beam/process_metrics.h"
#include "util/alloc.h"

struct ranked {
    uint64_t value, id, index;
};

struct process_top {
    enum metric metric;
    const struct vm *vm;
    struct ranked *ranked; /* a heap, its least first */
    uint64_t *indices;     /* of them */
    size_t count, wanted;
};

bool process_top_ranks(enum metric metric)
{
    return metric != METRIC_MEMORY && metric != METRIC_BINARIES;
}

struct process_top *process_top_new(size_t count, enum metric metric)
{
    struct process_top *top = xcalloc(1, sizeof(*top));

    top->metric = metric;
    top->wanted = count;
    top->ranked = xcalloc(count, sizeof(*top->ranked));
    top->indices = xcalloc(count, sizeof(*top->indices));
    return top;
}

void process_top_free(struct process_top *top)
{
    if (!top)
        return;
    free(top->ranked);
    free(top->indices);
    free(top);
}

/* Of equal values the older process, which has the lower id, ranks higher. */
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

/* Those of which it is not known do not rank. */
static void rank(void *context, const struct swept_process *process)
{
    struct process_top *top = context;
    struct ranked ranked = {.id = swept_process_id(top->vm, process), .index = process->index};
    struct metrics metrics = {0};

    process_metrics_read(top->vm, process->bytes, NULL, &metrics);
    if (!metrics_know(&metrics, top->metric))
        return;
    ranked.value = metrics.values[top->metric];
    if (top->count < top->wanted) {
        top->ranked[top->count] = ranked;
        sift_up(top->ranked, top->count++);
    } else if (is_less(&top->ranked[0], &ranked)) {
        top->ranked[0] = ranked;
        sift_down(top->ranked, top->count);
    }
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
    result = process_sweep_run(sweep, &(struct sweep_request){.visit = rank, .context = top},
                               counts, error);
    for (size_t i = 0; i < top->count; i++)
        top->indices[i] = top->ranked[i].index;
    qsort(top->indices, top->count, sizeof(*top->indices), ascending);
    return result;
}

const uint64_t *process_top_indices(const struct process_top *top, size_t *count)
{
    *count = top->count;
    return top->indices;
}
