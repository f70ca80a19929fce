// SPDX-License-Identifier: Apache-2.0
#include "output/text/call_graph.h"

#include <stddef.h>
#include <stdlib.h>

#include "util/alloc.h"

void call_graph_init(struct call_graph *graph, bool by_place)
{
    *graph = (struct call_graph){.by_place = by_place};
    intern_init(&graph->functions, sizeof(struct call_function),
                offsetof(struct call_function, file));
    intern_init(&graph->files, sizeof(const char *), sizeof(const char *));
    intern_init(&graph->calls, sizeof(struct call), sizeof(struct call));
}

void call_graph_free(struct call_graph *graph)
{
    intern_free(&graph->functions);
    intern_free(&graph->files);
    intern_free(&graph->calls);
    free(graph->function_costs);
    free(graph->call_costs);
    free(graph->path);
}

static uint32_t function_of(struct call_graph *graph, const struct view_frame *frame)
{
    static const char erlang[] = "Erlang";
    bool is_in_file = frame->kind == FRAME_NATIVE || frame->kind == FRAME_KERNEL;
    const struct call_function key = {.name = frame->text,
                                      .object = is_in_file ? frame->module : erlang,
                                      .file = graph->by_place ? frame->file : ""};
    uint32_t id = intern_add(&graph->functions, &key);
    struct call_function *function =
        (struct call_function *)(uintptr_t)call_function_get(graph, id);

    if (!function->file[0])
        function->file = key.file;
    return id;
}

static uint32_t file_of(struct call_graph *graph, const struct view_frame *frame)
{
    return graph->by_place && frame->file[0] ? intern_add(&graph->files, &frame->file) : 0;
}

/* The cost that a stack adds to each function and call in it. */
struct share {
    view_stack_id stack;
    uint64_t cost, samples;
};

/* Return false if the stack was added before. */
static bool add_share(struct call_cost *to, const struct share *share)
{
    if (to->added == share->stack)
        return false;
    to->added = share->stack;
    to->cost += share->cost;
    to->samples += share->samples;
    return true;
}

static void add_function(struct call_graph *graph, uint32_t id, const struct share *share)
{
    if (!add_share(&graph->function_costs[id], share))
        return;
    graph->path = xgrow(graph->path, &graph->path_room, graph->path_count, sizeof(*graph->path));
    graph->path[graph->path_count++] = id;
}

static void add_call(struct call_graph *graph, const struct call *call, const struct share *share)
{
    uint32_t id = intern_add(&graph->calls, call);

    graph->function_costs = xgrow(graph->function_costs, &graph->function_room, call->caller,
                                  sizeof(*graph->function_costs));
    graph->call_costs = xgrow(graph->call_costs, &graph->call_room, id, sizeof(*graph->call_costs));
    add_function(graph, call->caller, share);
    add_share(&graph->call_costs[id], share);
}

void call_graph_add(struct call_graph *graph, struct view *view, view_stack_id stack, uint64_t cost,
                    uint64_t samples)
{
    const struct share share = {stack, cost, samples};
    const struct view_frame *frames;
    size_t count = view_frames(view, stack, &frames);
    uint32_t caller = count ? function_of(graph, &frames[0]) : 0;

    graph->total += cost;
    graph->path_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct call call = {
            .caller = caller,
            .line = graph->by_place ? frames[i].line : 0,
            .callee = i + 1 < count ? function_of(graph, &frames[i + 1]) : 0,
            .file = file_of(graph, &frames[i]),
        };

        add_call(graph, &call, &share);
        caller = call.callee;
    }
}
