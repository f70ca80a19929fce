// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks merged from the root, as a flame graph shows them: frames with the same text and kind
 * under the same parent are one node. Node 0 is the parent of all root frames.
 */
#pragma once

#include "view/view.h"
#include "util/intern.h"

struct tree_node {
    const char *text;
    uint64_t self, total; /* counts; total is known after frame_tree_finish() */
    uint32_t parent;
    uint32_t first_child, children; /* a range of tree->sorted, ordered by text */
    uint8_t kind;                   /* enum frame_kind */
};

struct frame_tree {
    struct intern keys; /* an id is the index of a node */
    struct tree_node *nodes;
    uint32_t count;
    size_t capacity;
    uint32_t *path; /* nodes of the last added stack: the next one often shares them */
    size_t depth, path_room;
    uint32_t *sorted;
};

/* `name` is the text of node 0. */
void frame_tree_init(struct frame_tree *tree, const char *name);
void frame_tree_free(struct frame_tree *tree);
/* Add a stack, root first. Texts are borrowed. Equal texts must be the same pointer, as the texts
 * of one view are. */
void frame_tree_add(struct frame_tree *tree, const struct view_frame *frames, size_t frame_count,
                    uint64_t count);
/* Sum up and sort. Nothing may be added after that. */
void frame_tree_finish(struct frame_tree *tree);
