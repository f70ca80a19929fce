// SPDX-License-Identifier: Apache-2.0
/*
 * What functions cost by the stacks they are in: each by itself, with all that it calls, and each
 * of its calls of another one. A stack that holds a function or a call several times, as recursion
 * does, counts once for it.
 */
#pragma once

#include <stdbool.h>

#include "profile/view.h"
#include "util/intern.h"

/* Texts are borrowed; equal texts are the same pointer, as those of one view are. */
struct call_function {
    const char *name, *file, *object; /* `object`: the file of machine code, or "Erlang" */
};

/* The code of `line` in `caller` calls `callee`; 0: it does not call, and the cost is its own. */
struct call {
    uint32_t caller, line, callee;
};

struct call_cost {
    uint64_t cost, samples;
    view_stack_id added; /* the newest stack that counts for it */
};

struct call_graph {
    bool by_place; /* functions are told apart by file too, and calls by line; else without them */
    struct intern functions, calls;
    struct call_cost *function_costs, *call_costs; /* by id; of functions with all they call */
    size_t function_room, call_room;
    uint64_t total; /* of all stacks */
};

void call_graph_init(struct call_graph *graph, bool by_place);
void call_graph_free(struct call_graph *graph);

/* Each stack once. */
void call_graph_add(struct call_graph *graph, struct view *view, view_stack_id stack, uint64_t cost,
                    uint64_t samples);

static inline const struct call_function *call_function_get(const struct call_graph *graph,
                                                            uint32_t id)
{
    return intern_get(&graph->functions, id);
}

static inline const struct call *call_get(const struct call_graph *graph, uint32_t id)
{
    return intern_get(&graph->calls, id);
}
