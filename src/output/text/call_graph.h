// SPDX-License-Identifier: Apache-2.0
/*
 * A call graph: the costs of functions and of their calls, added up from stacks. A function has its
 * own cost and its cost with all callees. A call has the cost of the stacks that contain it. A
 * stack that contains a function or a call several times (recursion) counts once for it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/rows.h"
#include "output/weight.h"
#include "util/intern.h"
#include "view/view.h"

/* Texts are borrowed. Equal texts must be the same pointer, as the texts of one view are. */
struct call_function {
    const char *name, *object; /* `object`: the file with the machine code, or "Erlang" */
    const char *file;          /* the first source file that is known of it, or "" */
};

/* `line` of `file` in `caller` calls `callee`. `callee` 0: there is no call, the cost is the
 * caller's own. */
struct call {
    uint32_t caller, line, callee;
    uint32_t file; /* in `files`; 0: not known */
};

struct call_cost {
    uint64_t cost, samples;
    view_stack_id added; /* the last stack that was added */
};

struct call_graph {
    bool by_place; /* calls differ also by file and line; else both are ignored */
    struct intern functions, calls;
    struct intern files;                           /* const char * */
    struct call_cost *function_costs, *call_costs; /* by id; a function's with all callees */
    size_t function_room, call_room;
    uint64_t total; /* cost of all stacks */
    uint32_t *path; /* the functions of the last stack that was added, each once */
    size_t path_count, path_room;
};

void call_graph_init(struct call_graph *graph, bool by_place);
void call_graph_free(struct call_graph *graph);

/* Add a stack with its cost. Call once per stack. */
void call_graph_add(struct call_graph *graph, struct view *view, view_stack_id stack, uint64_t cost,
                    uint64_t samples);

static inline const struct call_function *call_function_get(const struct call_graph *graph,
                                                            uint32_t id)
{
    return intern_get(&graph->functions, id);
}

/* Return the file of a line, or "". */
static inline const char *call_file(const struct call_graph *graph, const struct call *call)
{
    return call->file ? *(const char *const *)intern_get(&graph->files, call->file) : "";
}

static inline const struct call *call_get(const struct call_graph *graph, uint32_t id)
{
    return intern_get(&graph->calls, id);
}

/* ---- call_report.c ---- */

/* How sure the costs of functions with all callees are, by function. */
struct call_rows {
    struct rows functions;
    const struct row_whole *whole;
    struct row_cover cover;
};

/* Write a report like gprof's and `perf report --stdio`'s: the cost of each function, its own and
 * with all callees, and its callers and callees. Costs are in the unit of `weight`; the heading
 * names `event`. Entries below 0.5 % are left out and counted. Write nothing if the graph has no
 * functions. `rows` may be NULL. With it, costs show their numbers of samples, costs of functions
 * show their intervals, and functions that may be there by chance are left out. */
void call_report_write(FILE *file, const struct call_graph *graph, const struct weight *weight,
                       const char *event, const struct call_rows *rows);
