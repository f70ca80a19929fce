// SPDX-License-Identifier: Apache-2.0
#include "output/svg/svg_internal.h"

#include <stdlib.h>

#include "util/alloc.h"

static void push_box(struct svg_layout *layout, const struct svg_box *box)
{
    layout->boxes = xgrow(layout->boxes, &layout->capacity, layout->count, sizeof(*layout->boxes));
    layout->boxes[layout->count++] = *box;
    if (box->level >= layout->levels)
        layout->levels = box->level + 1u;
}

/* Add a box and the boxes above it. Recurses no deeper than SVG_MAX_DEPTH. */
static void place(struct svg_layout *layout, const struct frame_tree *tree,
                  const struct svg_box *box, double scale)
{
    const struct tree_node *node = &tree->nodes[box->node];
    struct svg_box child = *box;

    push_box(layout, box);
    if (box->cut)
        return;
    child.level = (uint16_t)(box->level + 1);
    child.cut = child.level == SVG_MAX_DEPTH;
    for (uint32_t i = 0; i < node->children; i++) {
        child.node = tree->sorted[node->first_child + i];
        child.width = (double)tree->nodes[child.node].total * scale;
        if (child.width >= SVG_MIN_WIDTH)
            place(layout, tree, &child, scale);
        child.x += child.width;
    }
}

void svg_layout_make(struct svg_layout *layout, const struct frame_tree *tree, double x,
                     double width)
{
    uint64_t total = tree->nodes[0].total;

    *layout = (struct svg_layout){0};
    place(layout, tree, &(struct svg_box){.x = x, .width = width},
          total ? width / (double)total : 0);
}

void svg_layout_free(struct svg_layout *layout)
{
    free(layout->boxes);
}
