// SPDX-License-Identifier: Apache-2.0
#include "output/changes/changes.h"

#include <math.h>
#include <stdlib.h>

#include "view/view.h"
#include "util/alloc.h"
#include "util/confidence.h"
#include "util/intern.h"

static struct function_sums *sums_of(struct function_changes *changes, int side, stack_id stack)
{
    changes->stacks = xgrow(changes->stacks, &changes->room, stack, sizeof(*changes->stacks));
    return &changes->stacks[stack][side];
}

static void add_sums(struct function_sums *to, const struct function_sums *sums)
{
    to->weight += sums->weight;
    to->size += sums->size;
    to->squares += sums->squares;
    to->samples += sums->samples;
}

void function_changes_add(struct function_changes *changes, int side, stack_id stack, double weight,
                          uint64_t samples)
{
    const struct function_sums sums = {.weight = weight,
                                       .size = fabs(weight),
                                       .squares = weight * weight / (double)samples,
                                       .samples = samples};

    add_sums(sums_of(changes, side, stack), &sums);
    add_sums(&changes->all[side], &sums);
    changes->totals[side] += fabs(weight);
    changes->samples[side] += samples;
}

void function_changes_note(struct function_changes *changes, const struct profile *profile,
                           int side, const struct sample *sample, uint32_t value)
{
    struct row_whole *whole = &changes->wholes[side];
    bool is_of_hit = row_interval_has_hit(whole, sample);
    const struct sample before = whole->last;
    struct row_part part = row_interval_add_whole(whole, sample, value);

    if (is_of_hit) { /* (a + b)^2 is 2ab more than the squares of both */
        stack_id both = profile_common_stack(profile, before.stack, sample->stack);
        double shared = 2 * (double)before.values[value] * (double)sample->values[value];

        sums_of(changes, side, both)->shared += shared;
        changes->all[side].shared += shared;
    }
    part.hit = 0; /* parts of one hit are in different stacks */
    if (part.value)
        row_cells_add(&changes->cells[side], sample->stack, &part);
}

void function_changes_free(struct function_changes *changes)
{
    for (int side = 0; side < 2; side++) {
        row_interval_free_whole(&changes->wholes[side]);
        row_cells_free(&changes->cells[side]);
    }
    free(changes->stacks);
    *changes = (struct function_changes){0};
}

/* ---- functions ---- */

struct function_key {
    string_id symbol;
    uint32_t kind;
    module_id module; /* of a native function without a name, whose symbol is an offset; else 0 */
};

struct compared_function {
    struct function_sums self[2], total[2];
    struct row_sum rows[2]; /* of what the list is for */
    stack_id seen;          /* the last stack that was added: recursion counts once */
    uint64_t cell;          /* the last cell that was added */
    frame_id frame;
};

struct compared_functions {
    const struct profile *profile;
    const struct change_options *options;
    struct row_cover covers[2]; /* of `wholes` */
    struct row_whole wholes[2];
    struct intern keys;
    struct compared_function *list; /* by id of the key - 1 */
    size_t room;
    bool (*modules)[2]; /* that have samples on a side, by module id */
    size_t module_room;
    int side;       /* whose cells are added */
    uint64_t cells; /* so far */
};

static void add_both(struct function_sums to[2], const struct function_sums sums[2])
{
    for (int side = 0; side < 2; side++)
        add_sums(&to[side], &sums[side]);
}

static struct compared_function *function_of(struct compared_functions *functions, frame_id id)
{
    const struct frame *frame = profile_get_frame(functions->profile, id);
    const struct function_key entry = {frame->symbol, frame->kind,
                                       frame->unresolved ? frame->module : 0};
    uint32_t key = intern_add(&functions->keys, &entry);

    functions->list = xgrow(functions->list, &functions->room, key - 1, sizeof(*functions->list));
    functions->list[key - 1].frame = id;
    return &functions->list[key - 1];
}

static void note_module(struct compared_functions *functions, module_id module,
                        const struct function_sums sums[2])
{
    functions->modules =
        xgrow(functions->modules, &functions->module_room, module, sizeof(*functions->modules));
    for (int side = 0; side < 2; side++)
        functions->modules[module][side] |= sums[side].samples > 0;
}

/* True if the function is the same on both sides. Offsets say so within one build only. */
static bool is_comparable(const struct compared_functions *functions, uint32_t id)
{
    const struct function_key *key = intern_get(&functions->keys, id);
    const struct profile *profile = functions->profile;

    if (!key->module)
        return true;
    return functions->modules[key->module][0] && functions->modules[key->module][1] &&
           profile_get_module(profile, key->module)->build_id;
}

static void add_stack(struct compared_functions *functions, stack_id stack,
                      const struct function_sums sums[2])
{
    for (stack_id id = stack; id;) {
        const struct stack_node *node = profile_get_stack(functions->profile, id);
        struct compared_function *function = function_of(functions, node->frame);

        note_module(functions, profile_get_frame(functions->profile, node->frame)->module, sums);
        if (id == stack)
            add_both(function->self, sums);
        if (function->seen != stack) {
            add_both(function->total, sums);
            for (int side = 0; side < 2; side++)
                function->total[side].squares += sums[side].shared;
        }
        function->seen = stack;
        id = node->parent;
    }
}

static void add_cell(void *context, uint32_t stack, const struct row_part *part)
{
    struct compared_functions *functions = context;
    bool is_self = functions->options->sort == SORT_SELF;
    int side = functions->side;

    functions->cells++;
    for (stack_id id = stack; id;) {
        const struct stack_node *node = profile_get_stack(functions->profile, id);
        struct compared_function *function = function_of(functions, node->frame);

        if (function->cell != functions->cells)
            row_interval_add(&function->rows[side], &functions->wholes[side], part);
        function->cell = functions->cells;
        id = is_self ? 0 : node->parent;
    }
}

/* ---- noise ---- */

/* Half of the interval of a side's weight, as if each sample was taken independently. With
 * `by_share`, half of the interval of its share, times the total. */
static double half_by_chance(const struct function_sums *sums, const struct function_sums *all,
                             bool by_share)
{
    double variance = sums->squares, share = all->size > 0 ? sums->size / all->size : 0, count;

    if (by_share)
        variance += share * (share * (all->squares + all->shared) - 2 * sums->squares);
    if (variance <= 0)
        return 0;
    count = sums->size * sums->size / variance;
    return sums->size * confidence_poisson_half(count) / count;
}

static double mean_weight(const struct function_sums *sums)
{
    return sums->samples ? sums->size / (double)sums->samples : 0;
}

/* Half of the interval of a side without samples of a function, which the other side has. */
static double half_of_none(const struct function_changes *changes, int side,
                           const struct function_sums *other, const struct change_options *options)
{
    double own = options->represents[side], of_other = options->represents[!side];

    if (own <= 0 || of_other <= 0) {
        own = mean_weight(&changes->all[side]);
        of_other = mean_weight(&changes->all[!side]);
    }
    return confidence_poisson_half(0) * mean_weight(other) *
           (own > 0 && of_other > 0 ? own / of_other : 1);
}

static double half_of_side(const struct function_changes *changes,
                           const struct compared_functions *functions,
                           const struct compared_function *function, int side)
{
    const struct change_options *options = functions->options;
    const struct function_sums *sums =
        options->sort == SORT_SELF ? function->self : function->total;
    struct row_cover cover = functions->covers[side];
    double half, by_windows;

    if (!sums[side].samples)
        return half_of_none(changes, side, &sums[!side], options);
    half = half_by_chance(&sums[side], &changes->all[side], options->by_share);
    if (!cover.is_known)
        return half;
    if (options->by_share)
        cover.half = 0;
    by_windows = row_interval_half(&function->rows[side], &functions->wholes[side], &cover);
    return isnan(by_windows) ? INFINITY : fmax(half, by_windows);
}

/* The relative error of the second total. */
static double error_of_total(const struct function_changes *changes,
                             const struct change_options *options)
{
    const struct row_cover *cover = &options->covers[1];
    const struct function_sums *all = &changes->all[1];
    double whole, error;

    if (all->size <= 0)
        return 0;
    if (!cover->is_known || cover->is_selected)
        return half_by_chance(all, all, false) / all->size;
    if (isnan(cover->half))
        return INFINITY;
    whole = changes->wholes[1].sum.sampled; /* of all of the time, as the half is */
    error = cover->half / (whole > 0 ? whole : all->size);
    /* Samples only estimate which part of the time was not idle. */
    return all->size < whole ? fmax(half_by_chance(all, all, false) / all->size, error) : error;
}

/* Return half of the 95 % interval of the difference of the sides, which are independent. */
static double noise_of(const struct function_changes *changes,
                       const struct compared_functions *functions,
                       const struct compared_function *function, double change)
{
    const struct change_options *options = functions->options;
    double noise = hypot(options->scale * half_of_side(changes, functions, function, 0),
                         half_of_side(changes, functions, function, 1));

    return options->by_share ? hypot(noise, change * error_of_total(changes, options)) : noise;
}

static struct function_change change_of(const struct function_changes *changes,
                                        const struct compared_functions *functions,
                                        const struct compared_function *function)
{
    const struct function_sums *self = function->self, *total = function->total;
    const struct function_sums *sums = functions->options->sort == SORT_SELF ? self : total;
    double scale = functions->options->scale;
    struct function_change change = {
        .name =
            view_symbol(functions->profile, profile_get_frame(functions->profile, function->frame)),
        .self = {self[0].weight * scale, self[1].weight},
        .total = {total[0].weight * scale, total[1].weight},
        .change = sums[1].weight - sums[0].weight * scale,
    };

    if (change.change != 0)
        change.noise = noise_of(changes, functions, function, change.change);
    return change;
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

/* Add up the rows of functions by the cells of both sides. */
static void add_cells(const struct function_changes *changes, struct compared_functions *functions)
{
    for (int side = 0; side < 2; side++) {
        struct row_whole *whole = &functions->wholes[side];

        *whole = row_cells_whole(&changes->cells[side], &changes->wholes[side]);
        functions->covers[side] = functions->options->covers[side];
        functions->covers[side].squares = whole->sum.squares;
        functions->side = side;
        row_cells_each(&changes->cells[side], add_cell, functions);
    }
}

struct function_change *function_changes_list(const struct function_changes *changes,
                                              const struct profile *profile,
                                              const struct change_options *options,
                                              size_t *ret_count, size_t *ret_left_out)
{
    struct compared_functions functions = {.profile = profile, .options = options};
    struct function_change *list;
    size_t count = 0, left_out = 0;

    intern_init(&functions.keys, sizeof(struct function_key), sizeof(struct function_key));
    for (stack_id stack = 1; stack < changes->room; stack++)
        if (changes->stacks[stack][0].size > 0 || changes->stacks[stack][1].size > 0 ||
            changes->stacks[stack][0].shared > 0 || changes->stacks[stack][1].shared > 0)
            add_stack(&functions, stack, changes->stacks[stack]);
    add_cells(changes, &functions);
    list = xcalloc(functions.keys.count + 1, sizeof(*list));
    for (uint32_t i = 0; i < functions.keys.count; i++) {
        if (!is_comparable(&functions, i + 1)) {
            left_out++;
            continue;
        }
        list[count] = change_of(changes, &functions, &functions.list[i]);
        count += list[count].change != 0;
    }
    qsort(list, count, sizeof(*list),
          options->sort == SORT_TOTAL ? compare_totals : compare_changes);
    for (int side = 0; side < 2; side++)
        row_interval_free_whole(&functions.wholes[side]);
    intern_free(&functions.keys);
    free(functions.list);
    free(functions.modules);
    *ret_count = count;
    *ret_left_out = left_out;
    return list;
}
