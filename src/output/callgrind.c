// SPDX-License-Identifier: Apache-2.0
/*
 * The format of callgrind, for KCachegrind and callgrind_annotate
 * (https://valgrind.org/docs/manual/cl-format.html): the own cost of each function by line, and the
 * cost of each of its calls with all callees. The number of calls is not known; the number of
 * samples that saw the call takes its place. It must not be 0: callgrind_annotate (valgrind 3.19)
 * adds the cost of a call with count 0 to the caller's own cost.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/text/call_graph.h"
#include "output/counts.h"
#include "output/weight.h"
#include "util/alloc.h"

struct callgrind {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct counts costs, samples; /* by stack */
    struct call_graph graph;
};

static void *callgrind_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct callgrind *callgrind = xcalloc(1, sizeof(*callgrind));

    (void)error;
    callgrind->file = file;
    callgrind->source = *source;
    callgrind->weight = weight_with_unit(source, source->event);
    call_graph_init(&callgrind->graph, true);
    return callgrind;
}

static int callgrind_sample(void *state, const struct sample *sample, struct error *error)
{
    struct callgrind *callgrind = state;
    view_stack_id stack = view_of_sample(callgrind->source.view, sample);

    (void)error;
    counts_add(&callgrind->costs, stack, sample_weight(&callgrind->weight, sample));
    counts_add(&callgrind->samples, stack, 1);
    return 0;
}

/* ---- writing ---- */

/* Write a text and a line end. A line end in the text becomes a space, as it would end the name. */
static void put_text(FILE *file, const char *text)
{
    for (; *text; text++)
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
    putc('\n', file);
}

/* "(2)" at the begin of a name would stand for the second of a table of names. */
static void put_named(FILE *file, const char *key, const char *text)
{
    bool is_number = text[0] == '(' && text[1] >= '0' && text[1] <= '9';

    fprintf(file, "%s=%s", key, is_number ? "%28" : "");
    put_text(file, text[0] ? text + is_number : "???");
}

static void put_function(const struct callgrind *callgrind, uint32_t id)
{
    const struct call_function *function = call_function_get(&callgrind->graph, id);

    putc('\n', callgrind->file);
    put_named(callgrind->file, "ob", function->object);
    put_named(callgrind->file, "fl", function->file);
    put_named(callgrind->file, "fn", function->name);
}

static void put_call(const struct callgrind *callgrind, const struct call *call,
                     const struct call_cost *cost)
{
    if (call->callee) {
        const struct call_function *callee = call_function_get(&callgrind->graph, call->callee);

        put_named(callgrind->file, "cob", callee->object);
        put_named(callgrind->file, "cfl", callee->file);
        put_named(callgrind->file, "cfn", callee->name);
        fprintf(callgrind->file, "calls=%" PRIu64 " 0\n", cost->samples);
    }
    fprintf(callgrind->file, "%" PRIu32 " %" PRIu64 "\n", call->line, cost->cost);
}

/* Set the file of the lines that follow, if it is another one than that of the lines before. A line
 * can be of a file that is included in the function's. */
static void put_file(const struct callgrind *callgrind, const struct call *call,
                     const char **current)
{
    const char *file = call_file(&callgrind->graph, call);

    if (!file[0] || file == *current)
        return;
    put_named(callgrind->file, "fi", file);
    *current = file;
}

/* By function; its own costs (callee 0) come before its calls. */
static int compare_calls(const void *a, const void *b, void *graph)
{
    const struct call *x = call_get(graph, *(const uint32_t *)a);
    const struct call *y = call_get(graph, *(const uint32_t *)b);

    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void put_calls(struct callgrind *callgrind)
{
    uint32_t count = callgrind->graph.calls.count, caller = 0;
    uint32_t *order = xreallocarray(NULL, count + 1, sizeof(*order));
    const char *file = "";

    for (uint32_t i = 0; i < count; i++)
        order[i] = i + 1;
    qsort_r(order, count, sizeof(*order), compare_calls, &callgrind->graph);
    for (uint32_t i = 0; i < count; i++) {
        const struct call *call = call_get(&callgrind->graph, order[i]);

        if (call->caller != caller) {
            put_function(callgrind, call->caller);
            file = call_function_get(&callgrind->graph, call->caller)->file;
        }
        caller = call->caller;
        put_file(callgrind, call, &file);
        put_call(callgrind, call, &callgrind->graph.call_costs[order[i]]);
    }
    free(order);
}

static void write_all(struct callgrind *callgrind)
{
    const struct output_source *source = &callgrind->source;
    FILE *file = callgrind->file;

    for (view_stack_id id = 1; id < callgrind->costs.size; id++)
        if (callgrind->costs.of[id])
            call_graph_add(&callgrind->graph, source->view, id, callgrind->costs.of[id],
                           callgrind->samples.of[id]);
    fprintf(file, "# callgrind format\nversion: 1\ncreator: beamflame %s\ncmd: ",
            source->header->version);
    put_text(file, source->header->command);
    fprintf(
        file, "positions: line\nevent: %s : %s of %s, in %s\nevents: %s\nsummary: %" PRIu64 "\n",
        callgrind->weight.name, callgrind->weight.name,
        profile_text(source->profile, profile_get_event(source->profile, source->event)->name),
        profile_unit_name(callgrind->weight.unit), callgrind->weight.name, callgrind->graph.total);
    put_calls(callgrind);
}

static int callgrind_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct callgrind *callgrind = state;

    (void)error;
    if (totals)
        write_all(callgrind);
    counts_free(&callgrind->costs);
    counts_free(&callgrind->samples);
    call_graph_free(&callgrind->graph);
    free(callgrind);
    return 0;
}

const struct output_format callgrind_format = {
    .name = "callgrind",
    .suffixes = {".callgrind", ".callgrind.gz"},
    .one_event = true,
    .begin = callgrind_begin,
    .sample = callgrind_sample,
    .finish = callgrind_finish,
};
