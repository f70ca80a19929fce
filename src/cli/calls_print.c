// SPDX-License-Identifier: Apache-2.0
#include "cli/calls_print.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"
#include "output/json/json.h"
#include "output/number_text.h"
#include "util/utf8.h"

/* ---- table ---- */

static void print_row(uint64_t calls, double seconds, const char *format, const char *a,
                      const char *b)
{
    struct buffer who = {0};

    buffer_format(&who, format, a, b);
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
    print_row(row->calls, seconds, "  called by %s%s", row->who.name, place.data);
    buffer_free(&place);
}

static void print_process(const struct counted_row *row, double seconds)
{
    print_row(row->calls, seconds, row->who.more[0] ? "  in %s %s" : "  in %s%s", row->who.name,
              row->who.more);
}

/* Rows below the first `top`, in one line, so that lines add up. */
static void print_rest(const struct counted_rows *rows, size_t top, double seconds,
                       const char *format)
{
    uint64_t calls = 0;

    for (size_t i = top; i < rows->count; i++)
        calls += rows->of[i].calls;
    if (calls)
        print_row(calls, seconds, format, number_text(rows->count - top).text, "");
}

static void print_rows(const struct counted_rows *rows, size_t top, double seconds,
                       void (*print)(const struct counted_row *row, double seconds),
                       const char *format_of_rest, const char *format_of_lost)
{
    for (size_t i = 0; i < rows->count && i < top; i++)
        print(&rows->of[i], seconds);
    print_rest(rows, top, seconds, format_of_rest);
    if (rows->lost)
        print_row(rows->lost, seconds, format_of_lost, "", "");
}

void calls_print_table(const struct call_report *report, const struct call_facts *facts, size_t top)
{
    message_print("%14s %12s  %s", "CALLS", "CALLS/S", "FUNCTION");
    for (size_t i = 0; i < report->count; i++) {
        const struct call_function_report *function = &report->of[i];

        print_row(function->calls, facts->seconds, "%s%s", function->symbol, "");
        print_rows(&function->callers, top, facts->seconds, print_caller, "  called by %s others%s",
                   "  called by callers that were not counted%s%s");
        print_rows(&function->processes, top, facts->seconds, print_process,
                   "  in %s other processes%s", "  in processes that were not counted%s%s");
    }
}

/* ---- JSON ---- */

static void put_clean(struct json *json, const char *key, const char *text)
{
    char *clean = utf8_clean_string(text);

    json_text_or_null(json, key, clean);
    free(clean);
}

static void put_callers(struct json *json, const struct counted_rows *rows)
{
    json_open_lines(json, "callers", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "function", rows->of[i].who.name);
        put_clean(json, "file", rows->of[i].who.more);
        json_number_if(json, "line", rows->of[i].who.line);
        json_number(json, "calls", rows->of[i].calls);
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
        json_number(json, "calls", rows->of[i].calls);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "calls_without_process", rows->lost);
}

static void put_function(struct json *json, const struct call_function_report *function,
                         double seconds)
{
    json_open_lines(json, NULL, '{');
    put_clean(json, "function", function->symbol);
    json_number(json, "calls", function->calls);
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
        [CALL_END_BUDGET] = "budget",
        [CALL_END_ERROR] = "error",
    };
    struct json json = {stdout};

    json_open_lines(&json, NULL, '{');
    json_decimal(&json, "seconds", facts->seconds, 3);
    json_text(&json, "end", ends[facts->end]);
    json_number(&json, "hits", facts->hits);
    json_decimal(&json, "hit_ns", facts->hit_ns, 0);
    json_decimal(&json, "cost_percent", 100 * facts->share, 2);
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
