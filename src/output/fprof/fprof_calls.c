// SPDX-License-Identifier: Apache-2.0
#include "output/fprof/fprof_calls.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

void fprof_calls_init(struct fprof_calls *calls)
{
    *calls = (struct fprof_calls){.path = NULL};
    intern_init(&calls->functions, sizeof(const char *), sizeof(const char *));
    intern_init(&calls->pairs, sizeof(struct fprof_pair), sizeof(struct fprof_pair));
}

void fprof_calls_free(struct fprof_calls *calls)
{
    intern_free(&calls->functions);
    intern_free(&calls->pairs);
    free(calls->costs);
    free(calls->path);
    free(calls->places);
    free(calls->by_callee);
    free(calls->by_caller);
}

/* ---- paths ---- */

static void push(struct fprof_calls *calls, uint32_t function)
{
    calls->path = xgrow(calls->path, &calls->path_room, calls->path_count, sizeof(*calls->path));
    calls->path[calls->path_count++] = function;
}

/* Go to a function: return to it if the path has it, else call it. */
static void enter(struct fprof_calls *calls, uint32_t function)
{
    struct fprof_place *place;

    calls->places = xgrow(calls->places, &calls->place_room, function, sizeof(*calls->places));
    place = &calls->places[function];
    if (place->generation == calls->generation && place->position < calls->path_count &&
        calls->path[place->position] == function) {
        calls->path_count = place->position + 1;
        return;
    }
    *place = (struct fprof_place){calls->generation, (uint32_t)calls->path_count};
    push(calls, function);
}

/* Set the path to the Erlang functions and BIFs of a stack. Native frames belong to the function
 * above them. */
static void set_path(struct fprof_calls *calls, const struct fprof_stack *stack)
{
    calls->path_count = 0;
    calls->generation++;
    for (size_t i = 0; i < stack->count; i++) {
        const struct view_frame *frame = &stack->frames[i];

        if (frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF)
            enter(calls, intern_add(&calls->functions, &frame->text));
    }
}

/* ---- costs ---- */

static void add_pair(struct fprof_calls *calls, const struct fprof_pair *pair,
                     const struct fprof_cost *cost)
{
    uint32_t id = intern_add(&calls->pairs, pair);
    struct fprof_cost *sum;

    calls->costs = xgrow(calls->costs, &calls->cost_room, id, sizeof(*calls->costs));
    sum = &calls->costs[id];
    sum->samples += cost->samples;
    sum->acc = saturating_sum(sum->acc, cost->acc);
    sum->own = saturating_sum(sum->own, cost->own);
}

bool fprof_calls_add(struct fprof_calls *calls, const struct fprof_stack *stack, uint64_t samples,
                     uint64_t cost)
{
    uint32_t caller = FPROF_UNDEFINED;

    set_path(calls, stack);
    if (!calls->path_count)
        return false;
    if (stack->kind != FPROF_OWN)
        push(calls, stack->kind == FPROF_GC ? FPROF_COLLECT : FPROF_SUSPEND);
    for (size_t i = 0; i < calls->path_count; i++) {
        bool is_last = i + 1 == calls->path_count;
        const struct fprof_cost part = {
            .samples = samples, .acc = cost, .own = is_last && stack->kind != FPROF_OFF ? cost : 0};

        add_pair(calls, &(struct fprof_pair){stack->process, caller, calls->path[i]}, &part);
        caller = calls->path[i];
    }
    return true;
}

/* ---- sorting ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_pairs(const struct fprof_calls *calls, uint32_t a, uint32_t b, bool by_callee)
{
    const struct fprof_pair *x = fprof_pair_get(calls, a), *y = fprof_pair_get(calls, b);
    int order = compare(x->process, y->process);

    if (!order)
        order = by_callee ? compare(x->callee, y->callee) : compare(x->caller, y->caller);
    if (!order)
        order = compare(calls->costs[b].acc, calls->costs[a].acc);
    return order ? order : compare(a, b);
}

static int by_callee(const void *a, const void *b, void *calls)
{
    return compare_pairs(calls, *(const uint32_t *)a, *(const uint32_t *)b, true);
}

static int by_caller(const void *a, const void *b, void *calls)
{
    return compare_pairs(calls, *(const uint32_t *)a, *(const uint32_t *)b, false);
}

static uint32_t *sorted(struct fprof_calls *calls,
                        int (*order)(const void *a, const void *b, void *calls))
{
    uint32_t *ids = xcalloc(calls->pairs.count + (size_t)1, sizeof(*ids));

    for (uint32_t i = 0; i < calls->pairs.count; i++)
        ids[i] = i + 1;
    qsort_r(ids, calls->pairs.count, sizeof(*ids), order, calls);
    return ids;
}

void fprof_calls_sort(struct fprof_calls *calls)
{
    calls->by_callee = sorted(calls, by_callee);
    calls->by_caller = sorted(calls, by_caller);
}

/* ---- sections ---- */

static void add_cost(struct fprof_cost *sum, const struct fprof_cost *cost)
{
    sum->samples += cost->samples;
    sum->acc = saturating_sum(sum->acc, cost->acc);
    sum->own = saturating_sum(sum->own, cost->own);
}

static int by_cost(const void *a, const void *b)
{
    const struct fprof_function *x = a, *y = b;
    int order = compare(y->cost.acc, x->cost.acc);

    if (!order)
        order = compare(y->cost.own, x->cost.own);
    return order ? order : compare(x->first, y->first);
}

static int by_own(const void *a, const void *b)
{
    const struct fprof_section *x = a, *y = b;
    int order = compare(y->cost.own, x->cost.own);

    return order ? order : compare(x->process, y->process);
}

static void add_function(struct fprof_section *section, size_t *room, const struct fprof_pair *pair,
                         size_t at)
{
    section->functions =
        xgrow(section->functions, room, section->count, sizeof(*section->functions));
    section->functions[section->count++] =
        (struct fprof_function){.number = pair->callee, .first = at};
}

/* Make the section of the process whose pairs begin at `first` in by_callee. */
static struct fprof_section section_at(const struct fprof_calls *calls, size_t first)
{
    uint32_t process = fprof_pair_get(calls, calls->by_callee[first])->process;
    struct fprof_section section = {.process = process, .first_pair = first};
    size_t room = 0;

    for (size_t at = first; at < calls->pairs.count; at++) {
        uint32_t id = calls->by_callee[at];
        const struct fprof_pair *pair = fprof_pair_get(calls, id);
        struct fprof_function *function;

        if (pair->process != process)
            break;
        if (!section.count || section.functions[section.count - 1].number != pair->callee)
            add_function(&section, &room, pair, at);
        function = &section.functions[section.count - 1];
        function->count++;
        add_cost(&function->cost, &calls->costs[id]);
        add_cost(&section.cost, &calls->costs[id]);
        section.pair_count++;
    }
    if (section.count)
        qsort(section.functions, section.count, sizeof(*section.functions), by_cost);
    return section;
}

struct fprof_section *fprof_calls_sections(const struct fprof_calls *calls, size_t *ret_count)
{
    struct fprof_section *sections = NULL;
    size_t count = 0, room = 0;

    for (size_t at = 0; at < calls->pairs.count; at += sections[count - 1].pair_count) {
        sections = xgrow(sections, &room, count, sizeof(*sections));
        sections[count++] = section_at(calls, at);
    }
    if (count)
        qsort(sections, count, sizeof(*sections), by_own);
    *ret_count = count;
    return sections;
}

void fprof_sections_free(struct fprof_section *sections, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(sections[i].functions);
    free(sections);
}

size_t fprof_section_called(const struct fprof_calls *calls, const struct fprof_section *section,
                            uint32_t function, size_t *ret_first)
{
    size_t low = section->first_pair, end = low + section->pair_count, high = end, count = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fprof_pair_get(calls, calls->by_caller[middle])->caller < function)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_first = low;
    while (low + count < end &&
           fprof_pair_get(calls, calls->by_caller[low + count])->caller == function)
        count++;
    return count;
}
