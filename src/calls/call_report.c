// SPDX-License-Identifier: Apache-2.0
#include "calls/call_report.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

static int compare_names(const void *a, const void *b)
{
    const struct call_named *x = &((const struct counted_row *)a)->who;
    const struct call_named *y = &((const struct counted_row *)b)->who;
    int order = strcmp(x->name, y->name);

    if (!order)
        order = strcmp(x->more, y->more);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int compare_weights(const void *a, const void *b)
{
    uint64_t x = ((const struct counted_row *)a)->weight;
    uint64_t y = ((const struct counted_row *)b)->weight;

    return x == y ? compare_names(a, b) : (x < y) - (x > y);
}

static void sort(struct counted_rows *rows, int (*compare)(const void *a, const void *b))
{
    if (rows->count)
        qsort(rows->of, rows->count, sizeof(*rows->of), compare);
}

static void add_seen(struct counted_row *row, const struct counted_row *other)
{
    row->weight += other->weight;
    row->seen += other->seen;
}

void call_report_merge(struct counted_rows *rows)
{
    size_t kept = 0;

    sort(rows, compare_names);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept && !compare_names(&rows->of[kept - 1], &rows->of[i]))
            add_seen(&rows->of[kept - 1], &rows->of[i]);
        else
            rows->of[kept++] = rows->of[i];
    }
    rows->count = kept;
    sort(rows, compare_weights);
}

/* Rounding is by the sum so far, so that rows add up. */
void call_report_divide(struct counted_rows *rows, uint64_t calls, uint64_t weight)
{
    uint64_t sum = 0, given = 0;

    for (size_t i = 0; i < rows->count; i++) {
        uint64_t until;

        sum += rows->of[i].weight;
        until = whole_part((double)calls * ((double)sum / (double)weight) + 0.5);
        rows->of[i].calls = until - given;
        given = until;
    }
    rows->lost = calls > given ? calls - given : 0;
}

static void add_row(struct counted_rows *rows, struct call_named who,
                    const struct wire_call_row *row)
{
    rows->of = xgrow(rows->of, &rows->room, rows->count, sizeof(*rows->of));
    rows->of[rows->count++] =
        (struct counted_row){.who = who, .weight = row->weight, .seen = row->calls};
}

struct report_maker {
    const struct call_names *names;
    struct call_report *report;
};

static void add_caller(void *context, const struct wire_call_key *key,
                       const struct wire_call_row *row)
{
    const struct report_maker *maker = context;

    if (key->function < maker->report->count)
        add_row(&maker->report->of[key->function].callers, call_names_caller(maker->names, key),
                row);
}

static void add_process(void *context, const struct wire_call_key *key,
                        const struct wire_call_row *row)
{
    const struct report_maker *maker = context;

    if (key->function < maker->report->count)
        add_row(&maker->report->of[key->function].processes, call_names_process(maker->names, key),
                row);
}

/* The kernel counts hits without running the program where a program of the same kind is running:
 * calls whose caller and process are unknown. */
static void make_function(struct call_function_report *function, const struct call_sums *sums,
                          struct call_estimate estimate)
{
    uint64_t seen = sums->counts.calls + sums->missed;
    double all = sums->counts.calls ? (double)seen / (double)sums->counts.calls : 1;
    uint64_t weight = whole_part((double)sums->counts.weight * all);

    function->seen = seen;
    function->calls = sums->counts.calls ? whole_part(estimate.calls * all + 0.5) : seen;
    function->half = estimate.half;
    call_report_merge(&function->callers);
    call_report_merge(&function->processes);
    call_report_divide(&function->callers, function->calls, weight);
    call_report_divide(&function->processes, function->calls, weight);
}

static int compare_functions(const void *a, const void *b)
{
    const struct call_function_report *x = a, *y = b;

    return x->calls == y->calls ? strcmp(x->symbol, y->symbol)
                                : (x->calls < y->calls) - (x->calls > y->calls);
}

void call_report_make(const struct call_functions *functions, const struct call_counter *counter,
                      const struct call_windows *windows, const struct call_names *names,
                      struct call_report *report)
{
    struct report_maker maker = {names, report};

    *report = (struct call_report){.count = functions->count};
    call_counter_each(counter, CALL_MAP_CALLERS, add_caller, &maker);
    call_counter_each(counter, CALL_MAP_PROCESSES, add_process, &maker);
    for (uint32_t i = 0; i < report->count; i++) {
        struct call_sums sums = call_counter_sums(counter, i);

        report->of[i].symbol = functions->of[i].symbol;
        make_function(&report->of[i], &sums, call_windows_estimate(windows, i));
    }
    qsort(report->of, report->count, sizeof(*report->of), compare_functions);
}

void call_report_free(struct call_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->of[i].callers.of);
        free(report->of[i].processes.of);
    }
    report->count = 0;
}
