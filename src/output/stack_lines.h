// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks as lines "root;...;leaf", each once, sorted by bytes, with the sums of its weights. In a
 * frame, ';', a line end, and a '#' that would begin a comment are escaped (util/encode.h).
 *
 * Stacks are merged from the root, because all lines together can be thousands of times as long.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/string_table.h"
#include "util/buffer.h"
#include "util/intern.h"
#include "view/view.h"

struct stack_lines {
    struct string_table texts;   /* of frames, escaped */
    struct escaped_text *recent; /* RECENT_TEXTS, by the hash of the view's text */
    struct intern nodes;
    uint64_t (*sums)[2];    /* of node n at [n]: of the line that ends there */
    size_t room;            /* for nodes, in `sums` */
    struct path_step *path; /* nodes of the last added stack: the next one often shares them */
    size_t depth, path_room;
    struct buffer line;
};

void stack_lines_init(struct stack_lines *lines);
void stack_lines_free(struct stack_lines *lines);

/* Add a stack, root first; without frames it is "[no stack]". Equal texts must be the same pointer,
 * as the texts of one view are. The sums are not both 0. */
void stack_lines_add(struct stack_lines *lines, const struct view_frame *frames, size_t count,
                     const uint64_t sums[2]);

/* Pass each line to `each`, in order. */
void stack_lines_each(struct stack_lines *lines,
                      void (*each)(void *context, const char *line, const uint64_t sums[2]),
                      void *context);
