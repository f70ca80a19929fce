// SPDX-License-Identifier: Apache-2.0
#include "output/frame_tree.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

struct node_key {
    const char *text;
    uint32_t parent;
    uint32_t kind;
};

static void push_node(struct frame_tree *tree, const struct node_key *key)
{
    tree->nodes = xgrow(tree->nodes, &tree->capacity, tree->count, sizeof(*tree->nodes));
    tree->nodes[tree->count++] =
        (struct tree_node){.text = key->text, .parent = key->parent, .kind = (uint8_t)key->kind};
}

void frame_tree_init(struct frame_tree *tree, const char *name)
{
    *tree = (struct frame_tree){0};
    intern_init(&tree->keys, sizeof(struct node_key), sizeof(struct node_key));
    push_node(tree, &(struct node_key){name, 0, FRAME_MARK});
}

void frame_tree_free(struct frame_tree *tree)
{
    intern_free(&tree->keys);
    free(tree->nodes);
    free(tree->path);
    free(tree->sorted);
}

/* Return how many frames, from the root, equal the frames of the last added stack. */
static size_t shared_depth(const struct frame_tree *tree, const struct view_frame *frames,
                           size_t count)
{
    size_t depth = 0;

    for (; depth < count && depth < tree->depth; depth++) {
        const struct tree_node *node = &tree->nodes[tree->path[depth]];

        if (node->text != frames[depth].text || node->kind != frames[depth].kind)
            break;
    }
    return depth;
}

void frame_tree_add(struct frame_tree *tree, const struct view_frame *frames, size_t frame_count,
                    uint64_t count)
{
    uint32_t node = 0;

    tree->depth = shared_depth(tree, frames, frame_count);
    if (tree->depth)
        node = tree->path[tree->depth - 1];
    for (size_t i = tree->depth; i < frame_count; i++) {
        struct node_key key = {frames[i].text, node, frames[i].kind};

        node = intern_add(&tree->keys, &key);
        if (node == tree->count)
            push_node(tree, &key);
        tree->path = xgrow(tree->path, &tree->path_room, tree->depth, sizeof(*tree->path));
        tree->path[tree->depth++] = node;
    }
    tree->nodes[node].self = saturating_sum(tree->nodes[node].self, count);
}

/* By parent, text and kind, so that the children of a node are neighbours. */
static int compare_nodes(const void *a, const void *b, void *context)
{
    const struct tree_node *nodes = context;
    const struct tree_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
    int order;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    order = strcmp(x->text, y->text);
    return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

void frame_tree_finish(struct frame_tree *tree)
{
    /* The index of a child is higher than its parent's. */
    for (uint32_t i = tree->count; i-- > 0;) {
        struct tree_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];

        node->total = saturating_sum(node->total, node->self);
        if (i)
            parent->total = saturating_sum(parent->total, node->total);
    }
    tree->sorted = xreallocarray(NULL, tree->count, sizeof(*tree->sorted));
    for (uint32_t i = 1; i < tree->count; i++)
        tree->sorted[i - 1] = i;
    qsort_r(tree->sorted, tree->count - 1, sizeof(*tree->sorted), compare_nodes, tree->nodes);
    for (uint32_t i = tree->count - 1; i-- > 0;) {
        struct tree_node *parent = &tree->nodes[tree->nodes[tree->sorted[i]].parent];

        parent->first_child = i;
        parent->children++;
    }
}
