// SPDX-License-Identifier: Apache-2.0
#include "view/shown_stack.h"

#include <stdbool.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/intern.h"
#include "view/view.h"

/* Results for a stack of the profile, computed from its parent's results. */
struct stack_memo {
    stack_id folded; /* with recursion folded; the stack itself if it is not */
    frame_id bottom; /* first Erlang frame from the root, 0 if none */
    uint32_t depth;  /* frames of `folded` */
    stack_id cut;    /* 0 until shown_stack_of() computes it: `folded` with its middle cut out */
};

struct shown_stacks {
    const struct profile *profile;
    bool folds;
    uint32_t max_depth;       /* 0: no limit */
    struct intern made;       /* struct stack_node: stacks that the profile does not have */
    struct stack_memo *memos; /* of stack id - 1 */
    uint32_t memo_count, memo_capacity;
    frame_id *frames; /* room for max_depth */
};

struct shown_stacks *shown_stacks_new(const struct profile *profile,
                                      const struct view_options *options)
{
    struct shown_stacks *shown = xcalloc(1, sizeof(*shown));

    shown->profile = profile;
    shown->folds = options->fold_recursion;
    shown->max_depth = options->max_depth;
    shown->frames = xreallocarray(NULL, shown->max_depth + 1, sizeof(*shown->frames));
    intern_init(&shown->made, sizeof(struct stack_node), sizeof(struct stack_node));
    return shown;
}

void shown_stacks_free(struct shown_stacks *shown)
{
    if (!shown)
        return;
    intern_free(&shown->made);
    free(shown->memos);
    free(shown->frames);
    free(shown);
}

/* True if stacks are made, in place of those of the profile. */
static bool makes(const struct shown_stacks *shown)
{
    return shown->folds || shown->max_depth;
}

const struct stack_node *shown_stack_node(const struct shown_stacks *shown, stack_id id)
{
    return makes(shown) ? intern_get(&shown->made, id) : profile_get_stack(shown->profile, id);
}

static stack_id add_frame(struct shown_stacks *shown, stack_id parent, frame_id frame)
{
    return intern_add(&shown->made, &(struct stack_node){parent, frame});
}

static bool is_same_function(const struct profile *profile, frame_id a, frame_id b)
{
    const struct frame *x = profile_get_frame(profile, a), *y = profile_get_frame(profile, b);

    return x->symbol == y->symbol && x->module == y->module && x->kind == y->kind;
}

/* Add a frame to the stack of the memo, unless it is folded into the last one. */
static void extend(struct shown_stacks *shown, struct stack_memo *memo, frame_id frame)
{
    const struct stack_node *last = memo->folded ? shown_stack_node(shown, memo->folded) : NULL;

    if (shown->folds && last && is_same_function(shown->profile, last->frame, frame))
        return;
    memo->folded = add_frame(shown, memo->folded, frame);
    memo->depth++;
}

/* Computed in the order of ids: a parent's id is lower than its child's. */
static struct stack_memo *memo_of(struct shown_stacks *shown, stack_id id)
{
    if (id > shown->memo_capacity) {
        shown->memo_capacity = profile_counts(shown->profile).stacks * 2;
        shown->memos = xreallocarray(shown->memos, shown->memo_capacity, sizeof(*shown->memos));
    }
    while (shown->memo_count < id) {
        const struct stack_node *node = profile_get_stack(shown->profile, shown->memo_count + 1);
        struct stack_memo memo =
            node->parent ? shown->memos[node->parent - 1] : (struct stack_memo){0};

        memo.cut = 0;
        if (!memo.bottom && profile_get_frame(shown->profile, node->frame)->kind == FRAME_ERLANG)
            memo.bottom = node->frame;
        if (makes(shown))
            extend(shown, &memo, node->frame);
        shown->memos[shown->memo_count++] = memo;
    }
    return &shown->memos[id - 1];
}

frame_id shown_stack_bottom(struct shown_stacks *shown, stack_id id)
{
    return id ? memo_of(shown, id)->bottom : 0;
}

/* Cut the middle out of a stack that is too deep. What stays is half from the root, half from the
 * leaf. */
static stack_id cut(struct shown_stacks *shown, stack_id stack, uint32_t depth)
{
    uint32_t leaf = shown->max_depth / 2, root = shown->max_depth - 1 - leaf, at = shown->max_depth;
    stack_id result = 0;

    for (uint32_t i = depth; i > 0; i--) { /* from the leaf, which is frame `depth` */
        const struct stack_node *node = shown_stack_node(shown, stack);

        if (i > depth - leaf || i <= root)
            shown->frames[--at] = node->frame;
        else if (i == depth - leaf)
            shown->frames[--at] = CUT_FRAME;
        stack = node->parent;
    }
    for (uint32_t i = 0; i < shown->max_depth; i++)
        result = add_frame(shown, result, shown->frames[i]);
    return result;
}

stack_id shown_stack_of(struct shown_stacks *shown, stack_id id)
{
    struct stack_memo *memo;

    if (!id || !makes(shown))
        return id;
    memo = memo_of(shown, id);
    if (!shown->max_depth || memo->depth <= shown->max_depth)
        return memo->folded;
    if (!memo->cut)
        memo->cut = cut(shown, memo->folded, memo->depth);
    return memo->cut;
}
