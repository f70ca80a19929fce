// SPDX-License-Identifier: Apache-2.0
#include "cli/calls_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"
#include "output/json/json.h"
#include "output/number_text.h"
#include "util/utf8.h"

/* ---- table ---- */

/* `seen` is the number of calls that were counted. */
static void print_row(uint64_t calls, uint64_t seen, double seconds, const char *format,
                      const char *a, const char *b)
{
    struct buffer who = {0};

    buffer_format(&who, format, a, b);
    if (seen != calls)
        buffer_format(&who, " (%s seen)", number_text(seen).text);
    message_print("%14s %12s  %.*s", number_text(calls).text, number_text_rate(calls, seconds).text,
                  (int)who.size, who.data);
    buffer_free(&who);
}

static void print_caller(const struct counted_row *row, double seconds)
{
    struct buffer place = {0};

    if (row->who.line)
        buffer_format(&place, ", %s:%u", row->who.more, row->who.line);
    buffer_byte(&place, '\0');
    print_row(row->calls, row->seen, seconds, "  called by %s%s", row->who.name, place.data);
    buffer_free(&place);
}

static void print_process(const struct counted_row *row, double seconds)
{
    print_row(row->calls, row->seen, seconds, row->who.more[0] ? "  in %s %s" : "  in %s%s",
              row->who.name, row->who.more);
}

/* Rows below the first `top`, in one line, so that lines add up. */
static void print_rest(const struct counted_rows *rows, size_t top, double seconds,
                       const char *format)
{
    uint64_t calls = 0, seen = 0;

    for (size_t i = top; i < rows->count; i++) {
        calls += rows->of[i].calls;
        seen += rows->of[i].seen;
    }
    if (calls)
        print_row(calls, seen, seconds, format, number_text(rows->count - top).text, "");
}

static void print_rows(const struct counted_rows *rows, size_t top, double seconds,
                       void (*print)(const struct counted_row *row, double seconds),
                       const char *format_of_rest, const char *format_of_lost)
{
    for (size_t i = 0; i < rows->count && i < top; i++)
        print(&rows->of[i], seconds);
    print_rest(rows, top, seconds, format_of_rest);
    if (rows->lost)
        print_row(rows->lost, rows->lost, seconds, format_of_lost, "", "");
}

static void print_function(const struct call_function_report *function, double seconds)
{
    struct estimate_text estimate =
        number_text_estimate(function->calls, function->half, UNIT_COUNT);
    struct buffer half = {0};

    if (estimate.half.text[0])
        buffer_format(&half, "  %s", estimate.half.text);
    buffer_byte(&half, '\0');
    print_row(function->calls, function->seen, seconds, "%s%s", function->symbol, half.data);
    buffer_free(&half);
}

void calls_print_table(const struct call_report *report, const struct call_facts *facts, size_t top)
{
    size_t called = 0;

    while (called < report->count && report->of[called].calls)
        called++;
    message_print("%14s %12s  %s", "CALLS", "CALLS/S", "FUNCTION");
    for (size_t i = 0; i < called; i++) {
        const struct call_function_report *function = &report->of[i];

        print_function(function, facts->seconds);
        print_rows(&function->callers, top, facts->seconds, print_caller, "  called by %s others%s",
                   "  called by callers that were not counted%s%s");
        print_rows(&function->processes, top, facts->seconds, print_process,
                   "  in %s other processes%s", "  in processes that were not counted%s%s");
    }
    if (report->count - called > 1)
        print_row(0, 0, facts->seconds, "%s functions%s", number_text(report->count - called).text,
                  "");
    else if (called < report->count)
        print_row(0, 0, facts->seconds, "%s%s", report->of[called].symbol, "");
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

static void put_callers(struct json *json, const struct counted_rows *rows)
{
    json_open_lines(json, "callers", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "function", rows->of[i].who.name);
        put_clean(json, "file", rows->of[i].who.more);
        json_number_if(json, "line", rows->of[i].who.line);
        put_calls(json, &rows->of[i]);
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

static void put_function(struct json *json, const struct call_function_report *function,
                         double seconds)
{
    json_open_lines(json, NULL, '{');
    put_clean(json, "function", function->symbol);
    json_number(json, "calls", function->calls);
    json_number(json, "seen", function->seen);
    put_half(json, function->half);
    json_decimal(json, "calls_per_second", seconds > 0 ? (double)function->calls / seconds : 0, 1);
    put_callers(json, &function->callers);
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
    json_decimal(&json, "cost_percent", 100 * facts->share, 2);
    json_number(&json, "windows", facts->is_scaled ? facts->windows : 0);
    json_decimal(&json, "covered_percent", 100 * facts->covered, 2);
    json_number(&json, "reloads", facts->reloads);
    json_decimal(&json, "blind_seconds", facts->blind_seconds, 3);
    json_bool(&json, "old_code_uncounted", facts->old_code);
    json_number(&json, "missing_schedulers", facts->missing_threads);
    json_open_lines(&json, "functions", '[');
    for (size_t i = 0; i < report->count; i++)
        put_function(&json, &report->of[i], facts->seconds);
    json_close(&json, ']');
    json_close(&json, '}');
    message_print("%s", "");
}
