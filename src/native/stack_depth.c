// SPDX-License-Identifier: Apache-2.0
#include "native/stack_depth.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum { NO_NODE = 0 }; /* in solver.at */

/* Depths with known differences form a tree. `above` is the depth of a node minus the depth of its
 * parent. */
struct depth_node {
    uint32_t parent;
    int32_t above;
    bool conflicting; /* of a root: two paths to one of its nodes disagree */
};

/* Node 0 is depth 0. Node i + 1 is the depth before instruction i. */
struct solver {
    const struct stack_step *steps;
    uint32_t count;
    struct depth_node *nodes;
    uint32_t *at; /* by offset: the node of the instruction that starts there */
    size_t size;  /* of the code */
    bool *raises; /* by node: all paths from there raise an exception */
    bool *native; /* by node: the stack pointer is on the C stack */
    uint32_t contradictions;
};

/* ---- depths with known differences ---- */

static uint32_t root_of(struct depth_node *nodes, uint32_t node, int32_t *ret_above)
{
    int32_t above = 0;
    uint32_t root = node;

    while (nodes[root].parent != root) {
        above += nodes[root].above;
        root = nodes[root].parent;
    }
    *ret_above = above;
    while (node != root && nodes[node].parent != root) { /* shorten the path for the next call */
        uint32_t next = nodes[node].parent;
        int32_t own = nodes[node].above;

        nodes[node].parent = root;
        nodes[node].above = above;
        above -= own;
        node = next;
    }
    return root;
}

/* Record that the depth of `b` is the depth of `a` plus `more`. */
static void connect(struct solver *solver, uint32_t a, uint32_t b, int32_t more)
{
    struct depth_node *nodes = solver->nodes;
    int32_t above_a, above_b;
    uint32_t root_a = root_of(nodes, a, &above_a), root_b = root_of(nodes, b, &above_b);

    if (root_a == root_b) {
        if (above_b != above_a + more) {
            nodes[root_a].conflicting = true;
            solver->contradictions++;
        }
        return;
    }
    nodes[root_b].parent = root_a;
    nodes[root_b].above = above_a + more - above_b;
    nodes[root_a].conflicting |= nodes[root_b].conflicting;
}

static bool is_known(struct solver *solver, uint32_t node, int32_t *ret_words)
{
    int32_t above, zero;
    uint32_t root = root_of(solver->nodes, node, &above);

    if (root != root_of(solver->nodes, 0, &zero) || solver->nodes[root].conflicting)
        return false;
    *ret_words = above - zero;
    return *ret_words >= 0;
}

/* ---- steps between instructions ---- */

static uint32_t label_of(const struct solver *solver, const struct stack_step *step)
{
    return step->label < solver->size ? solver->at[step->label] : NO_NODE;
}

/* True if all paths from a node raise an exception and none changes the depth. `raises` must be
 * known for the later nodes. */
static bool only_raises(const struct solver *solver, uint32_t node)
{
    const struct stack_step *step = &solver->steps[node - 1];
    uint32_t label;

    if (step->flags & STEP_RAISES)
        return true;
    if (step->words || !(step->flags & (STEP_GOES_ON | STEP_JUMPS)) || step->flags & STEP_JUMPS_OUT)
        return false;
    if (step->flags & STEP_GOES_ON && (node == solver->count || !solver->raises[node + 1]))
        return false;
    if (!(step->flags & STEP_JUMPS))
        return true;
    label = label_of(solver, step);
    return label > node && solver->raises[label];
}

/* Find the nodes on the C stack. Code that builds a binary jumps while it is on the C stack, also
 * back to code that reports an error (x86/instr_bs.cpp). So this repeats until nothing changes. */
static void find_native(struct solver *solver)
{
    bool *native = solver->native;

    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t node = 1; node <= solver->count; node++) {
            uint32_t flags = solver->steps[node - 1].flags;
            bool after = (native[node] || flags & STEP_ENTERS) && !(flags & STEP_LEAVES);
            uint32_t label =
                flags & STEP_JUMPS ? label_of(solver, &solver->steps[node - 1]) : NO_NODE;

            if (label != NO_NODE && native[node] && !native[label])
                native[label] = changed = true;
            if (flags & STEP_GOES_ON && node < solver->count && after && !native[node + 1])
                native[node + 1] = changed = true;
        }
    }
}

typedef void (*way_visit)(struct solver *solver, uint32_t from, uint32_t to, int32_t more,
                          void *context);

/* Visit each step from one instruction to another for which the difference of the depths (`more`)
 * is known. */
static void each_way(struct solver *solver, way_visit visit, void *context)
{
    for (uint32_t node = 1; node <= solver->count; node++) {
        const struct stack_step *step = &solver->steps[node - 1];
        bool counts = !solver->native[node] && !(step->flags & STEP_ENTERS);
        uint32_t label = step->flags & STEP_JUMPS ? label_of(solver, step) : NO_NODE;

        if (label != NO_NODE)
            visit(solver, node, label, 0, context);
        if (step->flags & STEP_GOES_ON && node < solver->count &&
            !(counts && step->flags & (STEP_UNKNOWN | STEP_LEAVES | STEP_AFTER_ZERO)))
            visit(solver, node, node + 1, counts ? step->words : 0, context);
    }
}

/* True for a step into code that only raises an exception. Several places of a function with
 * different depths share such code, so the steps into it tell nothing about each other. */
static bool enters_raising(const struct solver *solver, uint32_t from, uint32_t to)
{
    return solver->raises[to] && !solver->raises[from];
}

static void connect_way(struct solver *solver, uint32_t from, uint32_t to, int32_t more,
                        void *context)
{
    (void)context;
    if (!enters_raising(solver, from, to))
        connect(solver, from, to, more);
}

static void connect_zero(struct solver *solver)
{
    connect(solver, 0, 1, 0);
    for (uint32_t node = 1; node <= solver->count; node++) {
        uint32_t flags = solver->steps[node - 1].flags;

        if (flags & STEP_AT_ZERO)
            connect(solver, 0, node, 0);
        if (flags & STEP_AFTER_ZERO && node < solver->count)
            connect(solver, 0, node + 1, 0);
    }
}

/* ---- code that raises exceptions ---- */

/* The depth at the root of such code, from the steps into it. */
struct raising {
    enum { NO_DEPTH, ONE_DEPTH, SEVERAL_DEPTHS } state;
    int32_t words;
};

static void look_at_way(struct solver *solver, uint32_t from, uint32_t to, int32_t more,
                        void *context)
{
    int32_t words, above;
    struct raising *raising;

    if (!enters_raising(solver, from, to) || !is_known(solver, from, &words))
        return;
    raising = (struct raising *)context + root_of(solver->nodes, to, &above);
    words += more - above;
    if (raising->state == NO_DEPTH)
        *raising = (struct raising){ONE_DEPTH, words};
    else if (raising->words != words)
        raising->state = SEVERAL_DEPTHS;
}

static void connect_raising(struct solver *solver)
{
    struct raising *raising = xcalloc((size_t)solver->count + 1, sizeof(*raising));

    each_way(solver, look_at_way, raising);
    for (uint32_t node = 1; node <= solver->count; node++)
        if (raising[node].state == ONE_DEPTH)
            connect(solver, 0, node, raising[node].words);
    free(raising);
}

/* ---- handlers of exceptions ---- */

static bool is_handler(const struct solver *solver, uint32_t node)
{
    uint32_t before = node - 1;

    if (!(solver->steps[node - 1].flags & STEP_ENDS_HANDLER))
        return false;
    while (before && solver->steps[before - 1].flags & STEP_PADDING)
        before--;
    return before && !(solver->steps[before - 1].flags & STEP_GOES_ON);
}

/* A handler begins with the depth at the place that set it. The code does not tell which place that
 * is. So this needs all places that set a handler to have the same depth. */
static void connect_handlers(struct solver *solver)
{
    int32_t words = -1, other;

    for (uint32_t node = 1; node <= solver->count; node++)
        if (solver->steps[node - 1].flags & STEP_SETS_HANDLER) {
            if (!is_known(solver, node, &other) || (words >= 0 && other != words))
                return;
            words = other;
        }
    for (uint32_t node = 1; words >= 0 && node <= solver->count; node++)
        if (is_handler(solver, node))
            connect(solver, 0, node, words);
}

/* ---- the whole function ---- */

static void solve(struct solver *solver)
{
    for (uint32_t i = 0; i <= solver->count; i++)
        solver->nodes[i].parent = i;
    for (uint32_t i = 0; i < solver->count; i++)
        solver->at[solver->steps[i].offset] = i + 1;
    for (uint32_t node = solver->count; node > 0; node--)
        solver->raises[node] = only_raises(solver, node);
    find_native(solver);
    connect_zero(solver);
    each_way(solver, connect_way, NULL);
    connect_handlers(solver);
    connect_raising(solver);
}

static void put_runs(struct solver *solver, struct stack_depths *depths)
{
    size_t room = 0;

    for (uint32_t i = 0; i < solver->count; i++) {
        const struct stack_step *step = &solver->steps[i];
        int32_t words = STACK_DEPTH_UNKNOWN;
        bool known = is_known(solver, i + 1, &words);

        depths->jumps_out |= !!(step->flags & STEP_JUMPS_OUT);
        depths->instructions += !(step->flags & STEP_PADDING);
        depths->known += known && !(step->flags & STEP_PADDING);
        if (!known)
            words = STACK_DEPTH_UNKNOWN;
        if (depths->count && depths->runs[depths->count - 1].words == words)
            continue;
        depths->runs = xgrow(depths->runs, &room, depths->count, sizeof(*depths->runs));
        depths->runs[depths->count++] = (struct stack_depth_run){step->offset, words};
    }
    depths->contradictions = solver->contradictions;
}

void stack_depths_find(const struct stack_code *code, struct stack_depths *ret_depths)
{
    struct stack_step *steps;
    struct solver solver = {.count = (uint32_t)stack_steps_find(code, &steps), .size = code->size};

    memset(ret_depths, 0, sizeof(*ret_depths));
    if (!solver.count)
        return;
    solver.steps = steps;
    solver.nodes = xcalloc((size_t)solver.count + 1, sizeof(*solver.nodes));
    solver.raises = xcalloc((size_t)solver.count + 1, sizeof(*solver.raises));
    solver.native = xcalloc((size_t)solver.count + 1, sizeof(*solver.native));
    solver.at = xcalloc(code->size, sizeof(*solver.at));
    solve(&solver);
    put_runs(&solver, ret_depths);
    free(solver.at);
    free(solver.native);
    free(solver.raises);
    free(solver.nodes);
    free(steps);
}

void stack_depths_free(struct stack_depths *depths)
{
    free(depths->runs);
    memset(depths, 0, sizeof(*depths));
}

int32_t stack_depth_at(const struct stack_depths *depths, uint64_t offset)
{
    size_t low = 0, high = depths->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (depths->runs[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? depths->runs[low - 1].words : STACK_DEPTH_UNKNOWN;
}
