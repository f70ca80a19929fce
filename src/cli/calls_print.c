// SPDX-License-Identifier: Apache-2.0
#include "cli/calls_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"
#include "output/json/json.h"
#include "output/number_text.h"
#include "util/number.h"
#include "util/utf8.h"

/* ---- table ---- */

struct table {
    double seconds;
    size_t top;     /* rows of callers, and of processes */
    bool has_times; /* of functions and callers */
};

static void print_titles(const struct table *table)
{
    struct buffer titles = {0};

    for (int i = 0; table->has_times && i < CALL_TIME_SHARES; i++)
        buffer_format(&titles, " %8u %%", call_time_shares[i]);
    if (table->has_times)
        buffer_format(&titles, " %10s", "LONGEST");
    message_print("%14s %12s%.*s  %s", "CALLS", "CALLS/S", (int)titles.size,
                  titles.size ? titles.data : "", "FUNCTION");
    buffer_free(&titles);
}

/* A time that is unknown is longer than what was seen. */
static void put_time(struct buffer *text, double ns, double seen)
{
    bool is_known = !isnan(ns);
    struct number_text amount =
        number_text_amount(whole_part((is_known ? ns : seen) + 0.5), UNIT_NS);
    char cell[sizeof(amount.text) + 1];

    snprintf(cell, sizeof(cell), "%s%s", is_known ? "" : ">", amount.text);
    buffer_format(text, " %10s", cell);
}

/* `times` NULL or without calls: nothing is known. */
static void put_times(struct buffer *text, const struct call_times *times)
{
    struct call_time_summary summary;

    if (!times || !times->count) {
        for (int i = 0; i <= CALL_TIME_SHARES; i++)
            buffer_format(text, " %10s", times ? "?" : "");
        return;
    }
    summary = call_times_summary(times);
    for (int i = 0; i < CALL_TIME_SHARES; i++)
        put_time(text, summary.at[i], summary.seen);
    put_time(text, summary.longest, summary.seen);
}

/* What a row shows, besides whose it is. */
struct cells {
    uint64_t calls;
    uint64_t seen;                  /* calls that were counted */
    const struct call_times *times; /* NULL: such a row has none */
};

static void print_row(const struct table *table, struct cells cells, const char *format,
                      const char *a, const char *b)
{
    struct buffer row = {0};

    if (table->has_times)
        put_times(&row, cells.times);
    buffer_text(&row, "  ");
    buffer_format(&row, format, a, b);
    if (cells.seen != cells.calls)
        buffer_format(&row, " (%s seen)", number_text(cells.seen).text);
    message_print("%14s %12s%.*s", number_text(cells.calls).text,
                  number_text_rate(cells.calls, table->seconds).text, (int)row.size, row.data);
    buffer_free(&row);
}

static void print_caller(const struct table *table, const struct counted_row *row)
{
    struct buffer place = {0};

    if (row->who.line)
        buffer_format(&place, ", %s:%u", row->who.more, row->who.line);
    buffer_byte(&place, '\0');
    print_row(table, (struct cells){row->calls, row->seen, &row->times}, "  called by %s%s",
              row->who.name, place.data);
    buffer_free(&place);
}

static void print_process(const struct table *table, const struct counted_row *row)
{
    print_row(table, (struct cells){row->calls, row->seen, NULL},
              row->who.more[0] ? "  in %s %s" : "  in %s%s", row->who.name, row->who.more);
}

/* Rows below the first ones, in one line, so that lines add up. */
static void print_rest(const struct table *table, const struct counted_rows *rows,
                       const char *format)
{
    struct cells cells = {0};

    for (size_t i = table->top; i < rows->count; i++) {
        cells.calls += rows->of[i].calls;
        cells.seen += rows->of[i].seen;
    }
    if (cells.calls)
        print_row(table, cells, format, number_text(rows->count - table->top).text, "");
}

static void print_rows(const struct table *table, const struct counted_rows *rows,
                       void (*print)(const struct table *table, const struct counted_row *row),
                       const char *format_of_rest, const char *format_of_lost)
{
    for (size_t i = 0; i < rows->count && i < table->top; i++)
        print(table, &rows->of[i]);
    print_rest(table, rows, format_of_rest);
    if (rows->lost)
        print_row(table, (struct cells){rows->lost, rows->lost, NULL}, format_of_lost, "", "");
}

static void print_function(const struct table *table, const struct call_function_report *function)
{
    struct estimate_text estimate =
        number_text_estimate(function->calls, function->half, UNIT_COUNT);
    struct buffer half = {0};

    if (estimate.half.text[0])
        buffer_format(&half, "  %s", estimate.half.text);
    buffer_byte(&half, '\0');
    print_row(table, (struct cells){function->calls, function->seen, &function->times}, "%s%s",
              function->symbol, half.data);
    buffer_free(&half);
}

static void print_uncalled(const struct table *table, const struct call_report *report,
                           size_t called)
{
    const struct cells none = {0};

    if (report->count - called > 1)
        print_row(table, none, "%s functions%s", number_text(report->count - called).text, "");
    else if (called < report->count)
        print_row(table, none, "%s%s", report->of[called].symbol, "");
}

void calls_print_table(const struct call_report *report, const struct call_facts *facts, size_t top)
{
    const struct table table = {facts->seconds, top, report->has_times};
    size_t called = 0;

    while (called < report->count && report->of[called].calls)
        called++;
    print_titles(&table);
    for (size_t i = 0; i < called; i++) {
        const struct call_function_report *function = &report->of[i];

        print_function(&table, function);
        print_rows(&table, &function->callers, print_caller, "  called by %s others%s",
                   "  called by callers that were not counted%s%s");
        print_rows(&table, &function->processes, print_process, "  in %s other processes%s",
                   "  in processes that were not counted%s%s");
    }
    print_uncalled(&table, report, called);
}

/* ---- JSON ---- */

static void put_clean(struct json *json, const char *key, const char *text)
{
    char *clean = utf8_clean_string(text);

    json_text_or_null(json, key, clean);
    free(clean);
}

static void put_calls(struct json *json, const struct counted_row *row)
{
    json_number(json, "calls", row->calls);
    json_number(json, "seen", row->seen);
}

static void put_ns(struct json *json, const char *key, double ns)
{
    if (isnan(ns))
        json_null(json, key);
    else
        json_decimal(json, key, ns, 0);
}

static void put_histogram(struct json *json, const struct call_times *times)
{
    json_open(json, "histogram", '[');
    for (size_t i = 0; i < times->count; i++) {
        const struct call_time *time = &times->of[i];

        if (!time->calls)
            continue;
        json_open(json, NULL, '[');
        json_number(json, NULL, call_times_low(time->bucket));
        json_number(json, NULL, time->calls);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void put_latency(struct json *json, const struct call_times *times)
{
    struct call_time_summary summary = call_times_summary(times);
    char key[16];

    json_open(json, "latency", '{');
    json_number(json, "returned", times->returned);
    json_number(json, "open", times->open);
    put_ns(json, "mean_ns", summary.mean);
    for (int i = 0; i < CALL_TIME_SHARES; i++) {
        snprintf(key, sizeof(key), "p%u_ns", call_time_shares[i]);
        put_ns(json, key, summary.at[i]);
    }
    put_ns(json, "longest_ns", summary.longest);
    put_histogram(json, times);
    json_close(json, '}');
}

static void put_callers(struct json *json, const struct counted_rows *rows, bool has_times)
{
    json_open_lines(json, "callers", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "function", rows->of[i].who.name);
        put_clean(json, "file", rows->of[i].who.more);
        json_number_if(json, "line", rows->of[i].who.line);
        put_calls(json, &rows->of[i]);
        if (has_times)
            put_latency(json, &rows->of[i].times);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "calls_without_caller", rows->lost);
}

static void put_processes(struct json *json, const struct counted_rows *rows)
{
    json_open_lines(json, "processes", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "pid", rows->of[i].who.name);
        put_clean(json, "name", rows->of[i].who.more);
        put_calls(json, &rows->of[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "calls_without_process", rows->lost);
}

/* Half of the 95 % interval. */
static void put_half(struct json *json, double half)
{
    if (isnan(half))
        json_null(json, "half");
    else
        json_decimal(json, "half", half, 0);
}

static void put_latency_of_all(struct json *json, const struct call_function_report *function)
{
    put_latency(json, &function->times);
    json_number(json, "passed_by_exceptions", function->unreturned.passed);
    json_number(json, "process_ended", function->unreturned.ended);
    json_number(json, "not_followed", function->unreturned.no_room);
}

static void put_function(struct json *json, const struct call_function_report *function,
                         double seconds, bool has_times)
{
    json_open_lines(json, NULL, '{');
    put_clean(json, "function", function->symbol);
    json_number(json, "calls", function->calls);
    json_number(json, "seen", function->seen);
    put_half(json, function->half);
    json_decimal(json, "calls_per_second", seconds > 0 ? (double)function->calls / seconds : 0, 1);
    if (has_times)
        put_latency_of_all(json, function);
    put_callers(json, &function->callers, has_times);
    put_processes(json, &function->processes);
    json_close(json, '}');
}

void calls_print_json(const struct call_report *report, const struct call_facts *facts)
{
    static const char *const ends[] = {
        [CALL_END_TIME] = "time",
        [CALL_END_VM] = "vm",
        [CALL_END_ERROR] = "error",
    };
    struct json json = {stdout};

    json_open_lines(&json, NULL, '{');
    json_decimal(&json, "seconds", facts->seconds, 3);
    json_text(&json, "end", ends[facts->end]);
    json_number(&json, "hits", facts->hits);
    json_decimal(&json, "hit_ns", facts->hit_ns, 0);
    if (report->has_times)
        json_decimal(&json, "own_ns", facts->own_ns, 0);
    json_decimal(&json, "cost_percent", 100 * facts->share, 2);
    json_number(&json, "windows", facts->is_scaled ? facts->windows : 0);
    json_decimal(&json, "covered_percent", 100 * facts->covered, 2);
    json_number(&json, "reloads", facts->reloads);
    json_decimal(&json, "blind_seconds", facts->blind_seconds, 3);
    json_bool(&json, "old_code_uncounted", facts->old_code);
    json_number(&json, "missing_schedulers", facts->missing_threads);
    json_open_lines(&json, "functions", '[');
    for (size_t i = 0; i < report->count; i++)
        put_function(&json, &report->of[i], facts->seconds, report->has_times);
    json_close(&json, ']');
    json_close(&json, '}');
    message_print("%s", "");
}
