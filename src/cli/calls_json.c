// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/calls_print.h"
#include "cli/message.h"
#include "output/json/json.h"
#include "util/utf8.h"

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

static void put_known(struct json *json, const char *key, double number, int decimals)
{
    if (isnan(number))
        json_null(json, key);
    else
        json_decimal(json, key, number, decimals);
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

static void put_parts(struct json *json, const struct call_split_sums *parts)
{
    json_decimal(json, "running_ns", parts->running, 0);
    json_decimal(json, "collecting_ns", parts->collecting, 0);
    json_decimal(json, "preempted_ns", parts->preempted, 0);
    json_decimal(json, "runnable_ns", parts->runnable, 0);
    json_decimal(json, "waiting_ns", parts->waiting, 0);
}

static void put_split(struct json *json, const struct call_times *times)
{
    struct call_split_sums mean, most;
    char key[16];

    if (!call_times_split(times, &mean)) {
        json_null(json, "split");
        return;
    }
    json_open(json, "split", '{');
    json_number(json, "measured", times->split);
    put_parts(json, &mean);
    for (int i = 0; i < CALL_TIME_SHARES; i++) {
        snprintf(key, sizeof(key), "p%u", call_time_shares[i]);
        if (call_times_split_share(times, i, &most)) {
            json_open(json, key, '{');
            put_parts(json, &most);
            json_close(json, '}');
        } else {
            json_null(json, key);
        }
    }
    json_close(json, '}');
}

static void put_latency(struct json *json, const struct call_times *times)
{
    struct call_time_summary summary = call_times_summary(times);
    char key[16];

    json_open(json, "latency", '{');
    json_number(json, "returned", times->returned);
    json_number(json, "open", times->open);
    put_known(json, "mean_ns", summary.mean, 0);
    for (int i = 0; i < CALL_TIME_SHARES; i++) {
        snprintf(key, sizeof(key), "p%u_ns", call_time_shares[i]);
        put_known(json, key, summary.at[i], 0);
    }
    put_known(json, "longest_ns", summary.longest, 0);
    json_decimal(json, "seen_ns", summary.seen, 0);
    put_histogram(json, times);
    json_close(json, '}');
}

static void put_memory(struct json *json, const struct call_times *times, uint64_t calls)
{
    json_open(json, "memory", '{');
    json_number(json, "measured", times->measured);
    put_known(json, "words_per_call", call_times_words(times), 3);
    put_known(json, "words", call_times_all_words(times, calls), 0);
    json_close(json, '}');
}

static void put_callers(struct json *json, const struct counted_rows *rows,
                        const struct call_report *report)
{
    json_open_lines(json, "callers", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "function", rows->of[i].who.name);
        put_clean(json, "file", rows->of[i].who.more);
        json_number_if(json, "line", rows->of[i].who.line);
        put_calls(json, &rows->of[i]);
        if (report->has_times)
            put_latency(json, &rows->of[i].times);
        if (report->has_split)
            put_split(json, &rows->of[i].times);
        if (report->has_words)
            put_memory(json, &rows->of[i].times, rows->of[i].calls);
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

static void put_arguments(struct json *json, const struct call_function_report *function)
{
    const struct counted_rows *rows = &function->arguments;

    json_open_lines(json, "arguments", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "text", rows->of[i].who.name);
        put_calls(json, &rows->of[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "calls_without_arguments", rows->lost);
    json_number(json, "calls_with_cut_arguments", function->cut);
}

/* Calls of pieces of time in which the function was not counted at all are not known. */
static void put_over_time(struct json *json, const struct call_report *report,
                          const struct call_function_report *function)
{
    uint64_t began = 0;

    json_open(json, "calls_over_time", '[');
    for (size_t i = 0; i < report->piece_count; i++) {
        if (report->piece_ends[i] <= function->counted.from || began >= function->counted.to)
            json_null(json, NULL);
        else
            json_number(json, NULL, function->over_time[i]);
        began = report->piece_ends[i];
    }
    json_close(json, ']');
}

static void put_latency_of_all(struct json *json, const struct call_function_report *function)
{
    put_latency(json, &function->times);
    json_number(json, "not_returned", function->unreturned.passed);
    json_number(json, "process_ended", function->unreturned.ended);
    json_number(json, "not_followed", function->unreturned.no_room);
    json_number(json, "not_timed", function->unreturned.untimed);
}

static void put_function(struct json *json, const struct call_function_report *function,
                         const struct call_report *report)
{
    double seconds = (double)(function->counted.to - function->counted.from) / 1e9;

    json_open_lines(json, NULL, '{');
    put_clean(json, "function", function->symbol);
    json_thousandths(json, "counted_from", function->counted.from / 1000000);
    json_thousandths(json, "counted_to", function->counted.to / 1000000);
    json_number(json, "calls", function->calls);
    json_number(json, "seen", function->seen);
    put_known(json, "half", function->half, 0);
    json_decimal(json, "calls_per_second", seconds > 0 ? (double)function->calls / seconds : 0, 1);
    put_over_time(json, report, function);
    if (report->has_times)
        put_latency_of_all(json, function);
    if (report->has_split) {
        put_split(json, &function->times);
        json_number(json, "not_split", function->unreturned.unsplit);
    }
    if (report->has_words)
        put_memory(json, &function->times, function->calls);
    put_callers(json, &function->callers, report);
    put_processes(json, &function->processes);
    if (report->has_matches) {
        json_number(json, "unmatched", function->unmatched);
        json_number(json, "unmatched_seen", function->unmatched_seen);
        json_number(json, "unchecked", function->unchecked);
        json_number(json, "unchecked_seen", function->unchecked_seen);
    }
    if (report->has_arguments)
        put_arguments(json, function);
    json_close(json, '}');
}

static void put_slow_split(struct json *json, const struct slow_call *call)
{
    if (!call->is_split) {
        json_null(json, "split");
        return;
    }
    json_open(json, "split", '{');
    put_parts(json, &call->split);
    json_close(json, '}');
}

static void put_slow_call(struct json *json, const struct call_report *report,
                          const struct slow_call *call)
{
    json_open(json, NULL, '{');
    put_clean(json, "function", report->symbols[call->function]);
    json_number(json, "took_ns", call->took);
    json_decimal(json, "ended", (double)call->ended / 1e9, 3);
    put_clean(json, "pid", call->process.name);
    put_clean(json, "name", call->process.more);
    if (report->has_split)
        put_slow_split(json, call);
    if (report->has_arguments)
        put_clean(json, "arguments", call->arguments ? call->arguments : "");
    json_open(json, "stack", '[');
    for (size_t i = 0; i < call->depth; i++) {
        json_open(json, NULL, '{');
        put_clean(json, "function", call->stack[i].name);
        put_clean(json, "file", call->stack[i].more);
        json_number_if(json, "line", call->stack[i].line);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_slow_calls(struct json *json, const struct call_report *report)
{
    json_open_lines(json, "slow_calls", '[');
    for (size_t i = 0; i < report->slow_count; i++)
        put_slow_call(json, report, &report->slow[i]);
    json_close(json, ']');
    json_number(json, "slow_calls_unlisted", report->unlisted);
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
    if (report->has_split) {
        json_number(&json, "split_hits", facts->split_hits);
        json_decimal(&json, "split_hit_ns", facts->split_ns, 0);
    }
    json_decimal(&json, "cost_percent", 100 * facts->share, 2);
    json_number(&json, "windows", facts->is_scaled ? facts->windows : 0);
    json_decimal(&json, "covered_percent", 100 * facts->covered, 2);
    if (report->has_times)
        json_decimal(&json, "followed_ns", facts->followed_ns, 0);
    json_number(&json, "reloads", facts->reloads);
    json_decimal(&json, "blind_seconds", facts->blind_seconds, 3);
    json_bool(&json, "old_code_uncounted", facts->old_code);
    json_number(&json, "missing_schedulers", facts->missing_threads);
    json_open(&json, "piece_ends", '[');
    for (size_t i = 0; i < report->piece_count; i++)
        json_thousandths(&json, NULL, report->piece_ends[i] / 1000000);
    json_close(&json, ']');
    json_open_lines(&json, "functions", '[');
    for (size_t i = 0; i < report->count; i++)
        put_function(&json, &report->of[i], report);
    json_close(&json, ']');
    if (report->lists_slow)
        put_slow_calls(&json, report);
    json_close(&json, '}');
    message_print("%s", "");
}
