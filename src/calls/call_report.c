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

static void add_seen(struct counted_row *row, struct counted_row *other)
{
    row->weight += other->weight;
    row->seen += other->seen;
    call_times_merge(&row->times, &other->times);
    call_times_free(&other->times);
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

static struct counted_row *add_row(struct counted_rows *rows, struct call_named who,
                                   const struct wire_call_row *row)
{
    rows->of = xgrow(rows->of, &rows->room, rows->count, sizeof(*rows->of));
    rows->of[rows->count] =
        (struct counted_row){.who = who, .weight = row->weight, .seen = row->calls};
    return &rows->of[rows->count++];
}

struct report_maker {
    const struct call_results *results;
    struct call_report *report;
};

/* A caller's times count as much as it calls, however long it was followed. */
static void add_caller(void *context, const struct wire_call_key *key,
                       const struct wire_call_row *row)
{
    const struct report_maker *maker = context;
    const struct call_results *results = maker->results;
    const struct call_times *times =
        results->followed ? call_followed_times(results->followed, key) : NULL;
    struct counted_row *added;

    if (key->function >= maker->report->count)
        return;
    added = add_row(&maker->report->of[key->function].callers,
                    call_names_caller(results->names, key), row);
    if (times)
        call_times_merge(&added->times, times);
    call_times_scale(&added->times, (double)row->weight);
}

static void add_process(void *context, const struct wire_call_key *key,
                        const struct wire_call_row *row)
{
    const struct report_maker *maker = context;

    if (key->function < maker->report->count)
        add_row(&maker->report->of[key->function].processes,
                call_names_process(maker->results->names, key), row);
}

/* Arguments without a name came when the VM had ended. */
static void add_arguments(void *context, const struct wire_arguments_key *key,
                          const struct wire_arguments_row *row)
{
    const struct report_maker *maker = context;
    const struct wire_call_row counted = {row->calls, row->weight};
    struct call_function_report *function;
    struct named_arguments named;

    if (key->function >= maker->report->count)
        return;
    function = &maker->report->of[key->function];
    named = call_arguments_of(maker->results->arguments, key);
    if (!named.text)
        return;
    add_row(&function->arguments, (struct call_named){named.text, "", 0}, &counted);
    if (named.is_cut)
        function->cut += row->calls;
}

/* What calls that are not counted stand for, by their weight, compared to those that are counted.
 */
static uint64_t scale(const struct call_function_report *function,
                      const struct wire_call_counts *counts, double weight)
{
    if (!counts->weight)
        return whole_part(weight / WIRE_CALL_WEIGHT + 0.5);
    return whole_part((double)function->calls * weight / (double)counts->weight + 0.5);
}

/* The kernel does not run the program at the hits that it missed: they have the weight of others.
 */
static void set_uncounted(struct call_function_report *function, const struct call_sums *sums)
{
    const struct wire_call_counts *counts = &sums->counts;
    double each = counts->calls ? (double)counts->weight / (double)counts->calls : WIRE_CALL_WEIGHT;

    function->unmatched_seen = counts->unmatched;
    function->unmatched = scale(function, counts, (double)counts->unmatched_weight);
    function->unchecked_seen = counts->unchecked + sums->missed;
    function->unchecked =
        scale(function, counts, (double)counts->unchecked_weight + (double)sums->missed * each);
}

/* The kernel counts hits without running the program where a program of the same kind is running:
 * calls whose caller and process are unknown. If calls have to match, it is unknown if they do. */
static void make_function(struct call_function_report *function, const struct call_sums *sums,
                          struct call_estimate estimate, bool matches)
{
    uint64_t seen = sums->counts.calls + (matches ? 0 : sums->missed);
    double all = sums->counts.calls ? (double)seen / (double)sums->counts.calls : 1;
    uint64_t weight = whole_part((double)sums->counts.weight * all);

    function->seen = seen;
    function->calls = sums->counts.calls ? whole_part(estimate.calls * all + 0.5) : seen;
    function->half = estimate.half;
    if (matches)
        set_uncounted(function, sums);
    call_report_merge(&function->callers);
    call_report_merge(&function->processes);
    call_report_merge(&function->arguments);
    call_report_divide(&function->callers, function->calls, weight);
    call_report_divide(&function->processes, function->calls, weight);
    call_report_divide(&function->arguments, function->calls, weight);
}

static void make_times(struct call_function_report *function, struct call_unreturned unreturned)
{
    for (size_t i = 0; i < function->callers.count; i++)
        call_times_merge(&function->times, &function->callers.of[i].times);
    function->unreturned = unreturned;
}

static int compare_functions(const void *a, const void *b)
{
    const struct call_function_report *x = a, *y = b;

    if (x->calls != y->calls)
        return (x->calls < y->calls) - (x->calls > y->calls);
    if (x->unmatched != y->unmatched)
        return (x->unmatched < y->unmatched) - (x->unmatched > y->unmatched);
    if (x->unchecked != y->unchecked)
        return (x->unchecked < y->unchecked) - (x->unchecked > y->unchecked);
    return strcmp(x->symbol, y->symbol);
}

static void free_rows(struct counted_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        call_times_free(&rows->of[i].times);
    free(rows->of);
}

static void free_function(struct call_function_report *function)
{
    free_rows(&function->callers);
    free_rows(&function->processes);
    free_rows(&function->arguments);
    call_times_free(&function->times);
    free(function->over_time);
}

/* Leave out functions that could not be added: they were never counted. */
static void drop_uncounted(struct call_report *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->count; i++) {
        if (report->of[i].counted.to)
            report->of[kept++] = report->of[i];
        else
            free_function(&report->of[i]);
    }
    report->count = kept;
}

static void set_span(struct call_function_report *function, struct call_span counted, uint64_t end)
{
    function->counted = counted;
    function->is_part = counted.from > 0 || counted.to < end;
}

void call_report_make(const struct call_results *results, struct call_report *report)
{
    struct report_maker maker = {results, report};

    *report = (struct call_report){.has_times = results->followed != NULL,
                                   .has_words = results->words,
                                   .has_split = results->splits,
                                   .has_arguments = results->arguments != NULL,
                                   .has_matches = results->has_pattern != NULL,
                                   .piece_ends = call_rates_ends(results->rates),
                                   .piece_count = call_rates_count(results->rates),
                                   .count = results->functions->count};
    call_counter_each(results->counter, CALL_MAP_CALLERS, add_caller, &maker);
    call_counter_each(results->counter, CALL_MAP_PROCESSES, add_process, &maker);
    if (results->arguments)
        call_counter_each_arguments(results->counter, add_arguments, &maker);
    for (uint32_t i = 0; i < report->count; i++) {
        struct call_sums sums = call_counter_sums(results->counter, i);

        report->of[i].symbol = report->symbols[i] = results->functions->of[i].symbol;
        make_function(&report->of[i], &sums, call_windows_estimate(results->windows, i),
                      results->has_pattern && results->has_pattern[i]);
        report->of[i].over_time = call_rates_divide(results->rates, i, report->of[i].calls);
        set_span(&report->of[i], call_windows_span(results->windows, i),
                 report->piece_ends[report->piece_count - 1]);
        report->unlisted += sums.counts.unlisted;
        if (results->followed)
            make_times(&report->of[i], call_followed_unreturned(results->followed, i));
    }
    drop_uncounted(report);
    qsort(report->of, report->count, sizeof(*report->of), compare_functions);
    if (!results->slow)
        return;
    report->lists_slow = true;
    report->slow = slow_calls_list(results->slow, &report->slow_count);
    report->unlisted += slow_calls_unlisted(results->slow);
}

void call_report_free(struct call_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        free_function(&report->of[i]);
    report->count = 0;
}
