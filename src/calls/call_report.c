// SPDX-License-Identifier: Apache-2.0
#include "calls/call_report.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static int compare_names(const void *a, const void *b)
{
    const struct call_named *x = &((const struct counted_row *)a)->who;
    const struct call_named *y = &((const struct counted_row *)b)->who;
    int order = strcmp(x->name, y->name);

    if (!order)
        order = strcmp(x->more, y->more);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int compare_calls(const void *a, const void *b)
{
    uint64_t x = ((const struct counted_row *)a)->calls, y = ((const struct counted_row *)b)->calls;

    return x == y ? compare_names(a, b) : (x < y) - (x > y);
}

static void sort(struct counted_rows *rows, int (*compare)(const void *a, const void *b))
{
    if (rows->count)
        qsort(rows->of, rows->count, sizeof(*rows->of), compare);
}

void call_report_merge(struct counted_rows *rows)
{
    size_t kept = 0;

    sort(rows, compare_names);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept && !compare_names(&rows->of[kept - 1], &rows->of[i]))
            rows->of[kept - 1].calls += rows->of[i].calls;
        else
            rows->of[kept++] = rows->of[i];
    }
    rows->count = kept;
    sort(rows, compare_calls);
}

static void add_row(struct counted_rows *rows, struct call_named who, uint64_t calls)
{
    rows->of = xgrow(rows->of, &rows->room, rows->count, sizeof(*rows->of));
    rows->of[rows->count++] = (struct counted_row){who, calls};
}

struct report_maker {
    const struct call_names *names;
    struct call_report *report;
};

static void add_caller(void *context, const struct wire_call_key *key, uint64_t calls)
{
    const struct report_maker *maker = context;

    if (key->function < maker->report->count)
        add_row(&maker->report->of[key->function].callers, call_names_caller(maker->names, key),
                calls);
}

static void add_process(void *context, const struct wire_call_key *key, uint64_t calls)
{
    const struct report_maker *maker = context;

    if (key->function < maker->report->count)
        add_row(&maker->report->of[key->function].processes, call_names_process(maker->names, key),
                calls);
}

void call_report_make(const struct call_functions *functions, const struct call_counter *counter,
                      const struct call_names *names, struct call_report *report)
{
    struct report_maker maker = {names, report};

    *report = (struct call_report){.count = functions->count};
    call_counter_each(counter, CALL_MAP_CALLERS, add_caller, &maker);
    call_counter_each(counter, CALL_MAP_PROCESSES, add_process, &maker);
    for (uint32_t i = 0; i < report->count; i++) {
        struct call_sums sums = call_counter_sums(counter, i);
        struct call_function_report *function = &report->of[i];

        function->symbol = functions->of[i].symbol;
        function->calls = sums.counts.calls + sums.missed;
        function->callers.lost = sums.counts.without_caller + sums.missed;
        function->processes.lost = sums.counts.without_process + sums.missed;
        call_report_merge(&function->callers);
        call_report_merge(&function->processes);
    }
}

void call_report_free(struct call_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->of[i].callers.of);
        free(report->of[i].processes.of);
    }
    report->count = 0;
}
