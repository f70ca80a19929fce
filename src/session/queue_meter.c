// SPDX-License-Identifier: Apache-2.0
#include "session/node_meter_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_metrics.h"
#include "util/utf8.h"

enum {
    VISITED_MOST = 100000,
    LENGTH_LEAST = 10, /* of a queue that is listed */
    FOUND_MAX = 64,    /* processes whose names are looked up */
};

struct long_queue {
    uint64_t id; /* pid term */
    uint64_t length;
};

struct search {
    const struct vm *vm;
    struct long_queue of[FOUND_MAX]; /* the longest so far */
    size_t count, shortest; /* `shortest`: index of the shortest queue, once `of` is full */
    double queued;
};

static size_t shortest_of(const struct search *search)
{
    size_t shortest = 0;

    for (size_t i = 1; i < search->count; i++)
        if (search->of[i].length < search->of[shortest].length)
            shortest = i;
    return shortest;
}

static void visit(void *context, const struct swept_process *process)
{
    struct search *search = context;
    struct metrics metrics = {0};
    struct long_queue found;

    process_metrics_read(search->vm, process->bytes, NULL, &metrics);
    if (!metrics_know(&metrics, METRIC_MSGQ))
        return;
    found = (struct long_queue){swept_process_id(search->vm, process), metrics.values[METRIC_MSGQ]};
    search->queued += (double)found.length;
    if (found.length < LENGTH_LEAST)
        return;
    if (search->count < FOUND_MAX)
        search->of[search->count++] = found;
    else if (found.length > search->of[search->shortest].length)
        search->of[search->shortest] = found;
    else
        return;
    if (search->count == FOUND_MAX)
        search->shortest = shortest_of(search);
}

static int longest_first(const void *a, const void *b)
{
    const struct long_queue *one = a, *other = b;

    return (one->length < other->length) - (one->length > other->length);
}

/* Return the name by which a process is listed; 0 if it has none. */
static string_id name_of(const struct process_entry *process, enum queue_name *by)
{
    *by = QUEUE_OF_NAME;
    if (process->name)
        return process->name;
    *by = QUEUE_OF_LABEL;
    if (process->label && !process->label_is_detail)
        return process->label;
    *by = QUEUE_OF_INITIAL_CALL;
    return process->initial_call;
}

static void add_queue(struct node_numbers *numbers, enum queue_name by, const char *name,
                      uint64_t length)
{
    struct number_queue queue = {.by = by, .processes = 1, .longest = length};

    utf8_copy(queue.text, QUEUE_TEXT, name);
    for (size_t i = 0; i < numbers->queue_count; i++)
        if (numbers->queues[i].by == by && !strcmp(numbers->queues[i].text, queue.text)) {
            numbers->queues[i].processes++;
            return;
        }
    if (numbers->queue_count < QUEUES_MAX)
        numbers->queues[numbers->queue_count++] = queue;
}

void queue_meter_read(struct process_sweep *sweep, struct vm *vm, struct symbolizer *symbolizer,
                      const struct profile *profile, uint64_t now, struct node_numbers *numbers)
{
    struct search search = {.vm = vm};
    uint64_t processes = vm_process_count(vm);
    bool is_all = processes <= VISITED_MOST;
    struct sweep_request request = {.share = is_all ? 1 : (double)VISITED_MOST / (double)processes,
                                    .visit = visit,
                                    .context = &search};
    struct sweep_counts counts = {0};
    struct error gone;

    if (process_sweep_run(sweep, &request, &counts, &gone))
        return;
    if (!is_all && counts.processes)
        search.queued *= (double)processes / (double)counts.processes;
    numbers->of[NUMBER_QUEUED] = search.queued;
    numbers->queue_count = 0;
    qsort(search.of, search.count, sizeof(*search.of), longest_first);
    for (size_t i = 0; i < search.count; i++) {
        process_id id = symbolizer_process(symbolizer, search.of[i].id, now);
        enum queue_name by;
        string_id name = id ? name_of(profile_get_process(profile, id), &by) : 0;

        if (name)
            add_queue(numbers, by, profile_text(profile, name), search.of[i].length);
    }
}
