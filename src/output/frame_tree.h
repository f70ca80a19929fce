// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks merged from the root on, as a flame graph shows them: frames of the same text and kind
 * under the same parent are one node. Node 0 stands for everything.
 */
#pragma once

#include "profile/view.h"
#include "util/intern.h"

struct tree_node {
    const char *text;
    uint64_t self, total; /* counts; total is known after frame_tree_finish() */
    uint32_t parent;
    uint32_t first_child, children; /* a run of tree->sorted, by text */
    uint8_t kind;                   /* enum frame_kind */
};

struct frame_tree {
    struct intern keys; /* its ids number the nodes */
    struct tree_node *nodes;
    uint32_t count;
    size_t capacity;
    uint32_t *path; /* nodes of the stack that was added last, which the next one often shares */
    size_t depth, path_room;
    uint32_t *sorted;
};

/* `name` is the text of node 0. */
void frame_tree_init(struct frame_tree *tree, const char *name);
void frame_tree_free(struct frame_tree *tree);
/* Texts are borrowed; equal texts are the same pointer, as those of one view are. */
void frame_tree_add(struct frame_tree *tree, const struct view_frame *frames, size_t frame_count,
                    uint64_t count);
/* Sum up and sort; nothing is added after that. */
void frame_tree_finish(struct frame_tree *tree);
