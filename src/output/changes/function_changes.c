// SPDX-License-Identifier: Apache-2.0
#include "output/changes/function_changes.h"

#include <math.h>
#include <stdlib.h>

#include "view/view.h"
#include "util/alloc.h"
#include "util/confidence.h"
#include "util/intern.h"

void function_changes_add(struct function_changes *changes, int side, stack_id stack, double weight,
                          uint64_t samples)
{
    struct function_sums *sums;

    changes->stacks = xgrow(changes->stacks, &changes->room, stack, sizeof(*changes->stacks));
    sums = &changes->stacks[stack][side];
    sums->weight += weight;
    sums->squares += weight * weight / (double)samples;
    sums->samples += samples;
    changes->totals[side] += fabs(weight);
    changes->samples[side] += samples;
}

void function_changes_free(struct function_changes *changes)
{
    free(changes->stacks);
    *changes = (struct function_changes){0};
}

struct function_key {
    string_id symbol;
    uint32_t kind;
};

struct compared_function {
    struct function_sums self[2], total[2];
    stack_id seen; /* the last stack that was added: recursion counts once */
    frame_id frame;
};

struct compared_functions {
    const struct profile *profile;
    struct intern keys;
    struct compared_function *list; /* by id of the key - 1 */
    size_t room;
};

static void add_sums(struct function_sums to[2], const struct function_sums sums[2])
{
    for (int side = 0; side < 2; side++) {
        to[side].weight += sums[side].weight;
        to[side].squares += sums[side].squares;
        to[side].samples += sums[side].samples;
    }
}

static struct compared_function *function_of(struct compared_functions *functions, frame_id id)
{
    const struct frame *frame = profile_get_frame(functions->profile, id);
    uint32_t key = intern_add(&functions->keys, &(struct function_key){frame->symbol, frame->kind});

    functions->list = xgrow(functions->list, &functions->room, key - 1, sizeof(*functions->list));
    functions->list[key - 1].frame = id;
    return &functions->list[key - 1];
}

static void add_stack(struct compared_functions *functions, stack_id stack,
                      const struct function_sums sums[2])
{
    for (stack_id id = stack; id;) {
        const struct stack_node *node = profile_get_stack(functions->profile, id);
        struct compared_function *function = function_of(functions, node->frame);

        if (id == stack)
            add_sums(function->self, sums);
        if (function->seen != stack)
            add_sums(function->total, sums);
        function->seen = stack;
        id = node->parent;
    }
}

/* Return half of the 95 % interval of the difference of the sides. The sides are independent, and
 * the number of samples of each varies by about its square root. A side without samples might as
 * well have had one: it gets the variance of an average sample of the other side. */
static double noise_of(const struct function_sums total[2], double scale)
{
    double before = total[0].squares * scale * scale, after = total[1].squares;
    double one_before = total[0].samples ? before / (double)total[0].samples : 0;
    double one_after = total[1].samples ? after / (double)total[1].samples : 0;

    return NORMAL_95_PERCENT * sqrt((before ? before : one_after) + (after ? after : one_before));
}

static struct function_change change_of(const struct profile *profile,
                                        const struct compared_function *function, double scale,
                                        enum comparison_sort sort)
{
    const struct function_sums *self = function->self, *total = function->total;
    const struct function_sums *sums = sort == SORT_SELF ? self : total;

    return (struct function_change){
        .name = view_symbol(profile, profile_get_frame(profile, function->frame)),
        .self = {self[0].weight * scale, self[1].weight},
        .total = {total[0].weight * scale, total[1].weight},
        .change = sums[1].weight - sums[0].weight * scale,
        .noise = noise_of(sums, scale),
    };
}

static int order_of(double x, double y)
{
    return x == y ? 0 : x > y ? -1 : 1;
}

static int compare_changes(const void *a, const void *b)
{
    return order_of(fabs(((const struct function_change *)a)->change),
                    fabs(((const struct function_change *)b)->change));
}

static double larger_total(const struct function_change *change)
{
    return fmax(fabs(change->total[0]), fabs(change->total[1]));
}

static int compare_totals(const void *a, const void *b)
{
    return order_of(larger_total(a), larger_total(b));
}

struct function_change *function_changes_list(const struct function_changes *changes,
                                              const struct profile *profile, double scale,
                                              enum comparison_sort sort, size_t *ret_count)
{
    struct compared_functions functions = {.profile = profile};
    struct function_change *list;
    size_t count = 0;

    intern_init(&functions.keys, sizeof(struct function_key), sizeof(struct function_key));
    for (stack_id stack = 1; stack < changes->room; stack++)
        if (changes->stacks[stack][0].samples || changes->stacks[stack][1].samples)
            add_stack(&functions, stack, changes->stacks[stack]);
    list = xcalloc(functions.keys.count + 1, sizeof(*list));
    for (uint32_t i = 0; i < functions.keys.count; i++) {
        list[count] = change_of(profile, &functions.list[i], scale, sort);
        count += list[count].change != 0;
    }
    qsort(list, count, sizeof(*list), sort == SORT_TOTAL ? compare_totals : compare_changes);
    intern_free(&functions.keys);
    free(functions.list);
    *ret_count = count;
    return list;
}
