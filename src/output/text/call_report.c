// SPDX-License-Identifier: Apache-2.0
#include "output/text/call_graph.h"

#include <stdlib.h>

#include "output/rows.h"
#include "util/alloc.h"

/* Calls sorted by callee or by caller, and then by cost, the greatest first. */
struct calls_of {
    const struct call_graph *graph;
    bool by_callee; /* else by caller */
    uint32_t *ids;
    uint32_t count;
};

struct report {
    FILE *file;
    const struct call_graph *graph;
    const struct weight *weight;
    const struct call_rows *rows; /* NULL: none */
    uint64_t *own;                /* costs of functions without callees, by id */
    struct calls_of callers, callees;
};

static uint32_t end_of(const struct calls_of *calls, uint32_t id)
{
    const struct call *call = call_get(calls->graph, id);

    return calls->by_callee ? call->callee : call->caller;
}

static uint32_t other_end_of(const struct calls_of *calls, uint32_t id)
{
    const struct call *call = call_get(calls->graph, id);

    return calls->by_callee ? call->caller : call->callee;
}

/* The larger cost first. */
static int compare_costs(const struct call_cost *costs, uint32_t x, uint32_t y)
{
    if (costs[x].cost != costs[y].cost)
        return costs[x].cost < costs[y].cost ? 1 : -1;
    return (x > y) - (x < y);
}

static int compare_calls(const void *a, const void *b, void *context)
{
    const struct calls_of *calls = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t s = end_of(calls, x), t = end_of(calls, y);

    return s != t ? (s > t) - (s < t) : compare_costs(calls->graph->call_costs, x, y);
}

static struct calls_of sort_calls(const struct call_graph *graph, bool by_callee)
{
    struct calls_of calls = {graph, by_callee, xcalloc(graph->calls.count + 1, sizeof(uint32_t)),
                             0};

    for (uint32_t id = 1; id <= graph->calls.count; id++)
        if (call_get(graph, id)->callee)
            calls.ids[calls.count++] = id;
    qsort_r(calls.ids, calls.count, sizeof(*calls.ids), compare_calls, &calls);
    return calls;
}

/* Return the index of a function's first call; if it has none, where that would be. */
static uint32_t first_of(const struct calls_of *calls, uint32_t function)
{
    uint32_t low = 0, high = calls->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (end_of(calls, calls->ids[middle]) < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_functions(const void *a, const void *b, void *costs)
{
    return compare_costs(costs, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Return the ids of functions by cost with all callees, the greatest first. To be freed. */
static uint32_t *sort_functions(const struct call_graph *graph)
{
    uint32_t count = graph->functions.count, *ids = xcalloc(count + 1, sizeof(*ids));

    for (uint32_t i = 0; i < count; i++)
        ids[i] = i + 1;
    qsort_r(ids, count, sizeof(*ids), compare_functions, graph->function_costs);
    return ids;
}

/* ---- writing ---- */

static bool is_shown(uint64_t cost, uint64_t whole)
{
    return cost && number_text_percent(cost, whole) >= 0.5;
}

static void put_cost(const struct report *report, uint64_t cost, uint64_t whole)
{
    fprintf(report->file, " %14s %5.1f %%", weight_text(report->weight, cost).text,
            number_text_percent(cost, whole));
}

static void put_samples(const struct report *report, uint64_t samples)
{
    if (report->rows)
        fprintf(report->file, " %9s", number_text(samples).text);
}

static void put_left_out(const struct report *report, const char *before, uint32_t count,
                         const char *why)
{
    if (count)
        fprintf(report->file, "%s%s more, %s\n", before, number_text(count).text, why);
}

static double half_of(const struct report *report, uint32_t function)
{
    const struct call_rows *rows = report->rows;

    return row_interval_half(&rows->functions.of[function], rows->whole, &rows->cover);
}

/* True if samples of the function may be there by chance. */
static bool is_chance(const struct report *report, uint32_t function)
{
    const struct call_rows *rows = report->rows;

    return rows && row_interval_is_chance(&rows->functions.of[function], &rows->cover,
                                          half_of(report, function));
}

/* The function's cost with all callees. It has no interval if it is exact, or if the interval is
 * unknown. */
static struct estimate_text estimate_of(const struct report *report, uint32_t function)
{
    double half = report->rows->cover.is_known ? half_of(report, function) : 0;

    return number_text_estimate(report->graph->function_costs[function].cost, half,
                                report->weight->unit);
}

static void put_estimate(FILE *file, struct estimate_text text)
{
    fprintf(file, "%s%s%s", text.amount.text, text.half.text[0] ? " " : "", text.half.text);
}

static void put_function_row(const struct report *report, uint32_t id)
{
    const struct call_graph *graph = report->graph;
    const struct call_cost *cost = &graph->function_costs[id];

    if (report->rows) {
        const struct estimate_text text = estimate_of(report, id);

        fprintf(report->file, " %14s %-18s %5.1f %%", text.amount.text, text.half.text,
                number_text_percent(cost->cost, graph->total));
    } else
        put_cost(report, cost->cost, graph->total);
    put_cost(report, report->own[id], graph->total);
    put_samples(report, cost->samples);
    fprintf(report->file, "  %s\n", call_function_get(graph, id)->name);
}

static void put_list(const struct report *report, const uint32_t *functions)
{
    const struct call_graph *graph = report->graph;
    uint32_t small = 0, chance = 0;

    if (report->rows)
        fprintf(report->file, " %41s %23s %9s  function\n", "with callees", "self", "samples");
    else
        fprintf(report->file, " %22s %23s  function\n", "with callees", "self");
    for (uint32_t i = 0; i < graph->functions.count; i++) {
        if (!is_shown(graph->function_costs[functions[i]].cost, graph->total))
            small++;
        else if (is_chance(report, functions[i]))
            chance++;
        else
            put_function_row(report, functions[i]);
    }
    put_left_out(report, "  ", small, "each less than 0.5 %");
    put_left_out(report, "  ", chance, "with too few samples or windows to be sure of");
}

/* Write callers or callees with their shares of the function's cost with all callees. */
static void put_calls(const struct report *report, const struct calls_of *calls, uint32_t function,
                      const char *heading)
{
    uint64_t whole = report->graph->function_costs[function].cost;
    uint32_t at = first_of(calls, function), left_out = 0;

    if (at == calls->count || end_of(calls, calls->ids[at]) != function)
        return;
    fprintf(report->file, "  %s\n", heading);
    for (; at < calls->count && end_of(calls, calls->ids[at]) == function; at++) {
        const struct call_cost *cost = &report->graph->call_costs[calls->ids[at]];

        if (!is_shown(cost->cost, whole)) {
            left_out++;
            continue;
        }
        put_cost(report, cost->cost, whole);
        put_samples(report, cost->samples);
        fprintf(report->file, "  %s\n",
                call_function_get(report->graph, other_end_of(calls, calls->ids[at]))->name);
    }
    put_left_out(report, "    ", left_out, "each less than 0.5 %");
}

static void put_function(const struct report *report, uint32_t id)
{
    const struct call_function *function = call_function_get(report->graph, id);
    const struct call_cost *cost = &report->graph->function_costs[id];

    fprintf(report->file, "\n%s: ", function->name);
    if (report->rows)
        put_estimate(report->file, estimate_of(report, id));
    else
        fputs(weight_text(report->weight, cost->cost).text, report->file);
    fprintf(report->file, ", %.1f %%", number_text_percent(cost->cost, report->graph->total));
    if (report->rows)
        fprintf(report->file, ", %s sample%s", number_text(cost->samples).text,
                cost->samples == 1 ? "" : "s");
    fputc('\n', report->file);
    put_calls(report, &report->callers, id, "called by");
    put_calls(report, &report->callees, id, "calls");
    if (report->own[id]) {
        fputs("  self\n", report->file);
        put_cost(report, report->own[id], cost->cost);
        fputc('\n', report->file);
    }
}

/* Write the total with its interval, which is not known of selected samples. */
static void put_total(const struct report *report)
{
    const struct call_rows *rows = report->rows;
    bool has_half = rows && rows->cover.is_known && !rows->cover.is_selected;

    if (has_half)
        put_estimate(report->file, number_text_estimate(report->graph->total, rows->cover.half,
                                                        report->weight->unit));
    else
        fputs(weight_text(report->weight, report->graph->total).text, report->file);
}

void call_report_write(FILE *file, const struct call_graph *graph, const struct weight *weight,
                       const char *event, const struct call_rows *rows)
{
    struct report report = {file,
                            graph,
                            weight,
                            rows,
                            xcalloc(graph->functions.count + 1, sizeof(uint64_t)),
                            sort_calls(graph, true),
                            sort_calls(graph, false)};
    uint32_t *functions = sort_functions(graph);

    for (uint32_t id = 1; id <= graph->calls.count; id++)
        if (!call_get(graph, id)->callee)
            report.own[call_get(graph, id)->caller] = graph->call_costs[id].cost;
    if (graph->functions.count) {
        fprintf(file, "\nfunctions of %s by %s, of ", event, weight->name);
        put_total(&report);
        putc('\n', file);
        put_list(&report, functions);
    }
    for (uint32_t i = 0; i < graph->functions.count; i++)
        if (is_shown(graph->function_costs[functions[i]].cost, graph->total) &&
            !is_chance(&report, functions[i]))
            put_function(&report, functions[i]);
    free(functions);
    free(report.own);
    free(report.callers.ids);
    free(report.callees.ids);
}
