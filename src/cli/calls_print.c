// SPDX-License-Identifier: Apache-2.0
#include "cli/calls_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/message.h"
#include "output/number_text.h"
#include "util/alloc.h"
#include "util/number.h"

/* ---- table ---- */

struct table {
    double seconds;            /* in which the function of a row was counted */
    size_t top;                /* rows of callers, and of processes */
    bool has_times, has_words; /* of functions and callers */
    bool has_split;            /* they have a line with the parts of their times */
};

static void print_titles(const struct table *table)
{
    struct buffer titles = {0};

    if (table->has_times)
        buffer_format(&titles, " %10s", "TIMED");
    for (int i = 0; table->has_times && i < CALL_TIME_SHARES; i++)
        buffer_format(&titles, " %8u %%", call_time_shares[i]);
    if (table->has_times)
        buffer_format(&titles, " %10s", "LONGEST");
    if (table->has_words)
        buffer_format(&titles, " %11s %15s", "WORDS/CALL", "WORDS");
    message_print("%14s %12s%.*s  %s", "CALLS", "CALLS/S", (int)titles.size,
                  titles.size ? titles.data : "", "FUNCTION");
    buffer_free(&titles);
}

/* A time that is unknown, because calls were cut off, is longer than what was seen. */
static void put_time(struct buffer *text, double ns, const struct call_time_summary *summary)
{
    bool is_known = !isnan(ns);
    struct number_text amount =
        number_text_amount(whole_part((is_known ? ns : summary->seen) + 0.5), UNIT_NS);
    char cell[sizeof(amount.text) + 1];

    snprintf(cell, sizeof(cell), "%s%s", is_known ? "" : ">", amount.text);
    buffer_format(text, " %10s", is_known || summary->is_cut ? cell : "?");
}

/* `times` NULL or without calls: nothing is known. */
static void put_times(struct buffer *text, const struct call_times *times)
{
    struct call_time_summary summary;

    if (!times || !times->count) {
        buffer_format(text, " %10s", times ? "0" : "");
        for (int i = 0; i <= CALL_TIME_SHARES; i++)
            buffer_format(text, " %10s", times ? "?" : "");
        return;
    }
    summary = call_times_summary(times);
    buffer_format(text, " %10s", number_text(times->returned).text);
    for (int i = 0; i < CALL_TIME_SHARES; i++)
        put_time(text, summary.at[i], &summary);
    put_time(text, summary.longest, &summary);
}

/* The words of calls that were not measured are not known: all calls have more than that. */
static void put_words(struct buffer *text, const struct call_times *times, uint64_t calls)
{
    double words = times ? call_times_words(times) : NAN;
    bool are_all = times && times->measured == times->returned;
    struct number_text sum;

    if (isnan(words)) {
        buffer_format(text, " %11s %15s", times ? "?" : "", times ? "?" : "");
        return;
    }
    sum = number_text(whole_part(call_times_all_words(times, calls) + 0.5));
    buffer_format(text, " %11.1f %s%*s", words, are_all ? "" : ">", are_all ? 15 : 14, sum.text);
}

/* What a row shows, besides whose it is. */
struct call_cells {
    uint64_t calls;
    uint64_t seen;                  /* calls that were counted */
    const struct call_times *times; /* NULL: such a row has none */
};

static void print_row(const struct table *table, struct call_cells cells, const char *format,
                      const char *a, const char *b)
{
    struct buffer row = {0};

    if (table->has_times)
        put_times(&row, cells.times);
    if (table->has_words)
        put_words(&row, cells.times, cells.calls);
    buffer_text(&row, "  ");
    buffer_format(&row, format, a, b);
    if (cells.seen != cells.calls)
        buffer_format(&row, " (%s seen)", number_text(cells.seen).text);
    message_print("%14s %12s%.*s", number_text(cells.calls).text,
                  number_text_rate(cells.calls, table->seconds).text, (int)row.size, row.data);
    buffer_free(&row);
}

/* The width of the columns before the names. */
static int indent_of(const struct table *table)
{
    return 27 + (table->has_times ? 11 * (CALL_TIME_SHARES + 2) : 0) + (table->has_words ? 28 : 0);
}

static void put_running(struct buffer *text, double ns)
{
    buffer_format(text, "%s running", number_text_amount(whole_part(ns + 0.5), UNIT_NS).text);
}

static void put_part(struct buffer *text, double ns, const char *what)
{
    buffer_format(text, ", %s %s", number_text_amount(whole_part(ns + 0.5), UNIT_NS).text, what);
}

/* Append the parts of a time. Those that are 0 are left out, but the first. */
static void put_parts(struct buffer *text, const struct call_split_sums *parts)
{
    put_running(text, parts->running);
    if (parts->collecting >= 0.5)
        buffer_format(text, " (%s of it collecting garbage)",
                      number_text_amount(whole_part(parts->collecting + 0.5), UNIT_NS).text);
    if (parts->preempted >= 0.5)
        put_part(text, parts->preempted, "without a CPU");
    if (parts->runnable >= 0.5)
        put_part(text, parts->runnable, "in run queues");
    if (parts->waiting >= 0.5)
        put_part(text, parts->waiting, "waiting");
}

/* Append how long each part is by itself. */
static void put_each_part(struct buffer *text, const struct call_split_sums *parts)
{
    put_running(text, parts->running);
    put_part(text, parts->collecting, "collecting garbage");
    put_part(text, parts->preempted, "without a CPU");
    put_part(text, parts->runnable, "in run queues");
    put_part(text, parts->waiting, "waiting");
}

/* Print how long the parts are at most, in shares of these calls. */
static void print_split_shares(const struct table *table, const struct call_times *times)
{
    struct call_split_sums most;

    for (int i = 0; table->has_split && i < CALL_TIME_SHARES; i++) {
        struct buffer text = {0};

        if (!call_times_split_share(times, i, &most))
            continue;
        put_each_part(&text, &most);
        message_print("%*s    in %u %% of calls, each part by itself, at most %.*s",
                      indent_of(table), "", call_time_shares[i], (int)text.size, text.data);
        buffer_free(&text);
    }
}

/* Print what the time of these calls is made of on average. */
static void print_split(const struct table *table, const struct call_times *times,
                        const char *before)
{
    struct call_split_sums mean;
    struct buffer text = {0};

    if (!table->has_split || !call_times_split(times, &mean))
        return;
    put_parts(&text, &mean);
    message_print("%*s%s    on average %.*s", indent_of(table), "", before, (int)text.size,
                  text.data);
    buffer_free(&text);
}

static void print_caller(const struct table *table, const struct counted_row *row)
{
    struct buffer place = {0};

    if (row->who.line)
        buffer_format(&place, ", %s:%u", row->who.more, row->who.line);
    buffer_byte(&place, '\0');
    print_row(table, (struct call_cells){row->calls, row->seen, &row->times}, "  called by %s%s",
              row->who.name, place.data);
    buffer_free(&place);
    print_split(table, &row->times, "  ");
}

static void print_process(const struct table *table, const struct counted_row *row)
{
    print_row(table, (struct call_cells){row->calls, row->seen, NULL},
              row->who.more[0] ? "  in %s %s" : "  in %s%s", row->who.name, row->who.more);
}

static void print_arguments(const struct table *table, const struct counted_row *row)
{
    print_row(table, (struct call_cells){row->calls, row->seen, NULL}, "  with %s%s", row->who.name,
              "");
}

/* Rows below the first ones, in one line, so that lines add up. */
static void print_rest(const struct table *table, const struct counted_rows *rows,
                       const char *format)
{
    struct call_cells cells = {0};

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
        print_row(table, (struct call_cells){rows->lost, rows->lost, NULL}, format_of_lost, "", "");
}

static void print_function(const struct table *table, const struct call_function_report *function)
{
    struct estimate_text estimate =
        number_text_estimate(function->calls, function->half, UNIT_COUNT);
    struct buffer half = {0};

    if (estimate.half.text[0])
        buffer_format(&half, "  %s", estimate.half.text);
    buffer_byte(&half, '\0');
    print_row(table, (struct call_cells){function->calls, function->seen, &function->times}, "%s%s",
              function->symbol, half.data);
    buffer_free(&half);
    print_split(table, &function->times, "");
    print_split_shares(table, &function->times);
}

/* ---- over time ---- */

enum { MOST_CELLS = 60 /* of a line of bars */, PIECES_LEAST = 3 };

static int compare_rates(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Return the mean of the known rates, or NAN if no rate is known. */
static double mean_of(const double *rates, size_t count)
{
    double sum = 0, known = 0;

    for (size_t i = 0; i < count; i++) {
        if (isnan(rates[i]))
            continue;
        sum += rates[i];
        known++;
    }
    return sum / known;
}

/* Append a bar for each cell of one or more pieces: its mean, of the highest rate. A cell without a
 * known rate is blank. */
static void put_bars(struct buffer *text, const double *rates, size_t count, double most)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { BARS = sizeof(bars) / sizeof(*bars) };
    size_t each = (count + MOST_CELLS - 1) / MOST_CELLS;

    for (size_t i = 0; i < count; i += each) {
        double mean = mean_of(&rates[i], i + each < count ? each : count - i);

        buffer_text(text, isnan(mean) ? " " : bars[(size_t)(mean / most * (BARS - 1) + 0.5)]);
    }
}

/* The rates of the pieces of time, without the last one, which is short. NAN: the function was not
 * counted in all of it. */
static size_t rates_of(const struct call_report *report,
                       const struct call_function_report *function, double *rates)
{
    uint64_t began = 0;
    size_t count = 0;

    for (; count + 1 < report->piece_count; count++) {
        uint64_t end = report->piece_ends[count];

        rates[count] = began < function->counted.from || end > function->counted.to
                           ? NAN
                           : (double)function->over_time[count] * 1e9 / (double)(end - began);
        began = end;
    }
    return count;
}

/* Move the rates that are known to the front, and return their number. */
static size_t keep_known(double *rates, size_t count)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(rates[i]))
            rates[known++] = rates[i];
    return known;
}

/* Print the least, the median and the highest rate, and bars. */
static void print_over_time(const struct table *table, const struct call_report *report,
                            const struct call_function_report *function)
{
    double *rates = xcalloc(report->piece_count + 1, sizeof(*rates));
    size_t count = rates_of(report, function, rates), known;
    struct buffer bars = {0};
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = rates[i] > most ? rates[i] : most;
    if (most > 0)
        put_bars(&bars, rates, count, most);
    known = keep_known(rates, count);
    if (known >= PIECES_LEAST && most > 0) {
        qsort(rates, known, sizeof(*rates), compare_rates);
        message_print(
            "%*s    %s to %s a second, median %s  %.*s", indent_of(table), "",
            number_text(whole_part(rates[0] + 0.5)).text, number_text(whole_part(most + 0.5)).text,
            number_text(whole_part(rates[known / 2] + 0.5)).text, (int)bars.size, bars.data);
    }
    buffer_free(&bars);
    free(rates);
}

/* All numbers of a function are those of the time in which it was counted. */
static double seconds_of(const struct call_function_report *function)
{
    return (double)(function->counted.to - function->counted.from) / 1e9;
}

static void print_part(const struct table *table, const struct call_function_report *function)
{
    if (function->is_part)
        message_print("%*s    counted for %.1f s only, from %.1f s to %.1f s", indent_of(table), "",
                      seconds_of(function), (double)function->counted.from / 1e9,
                      (double)function->counted.to / 1e9);
}

/* Functions without calls. Those that were counted for a part of the time have rows. */
static void print_uncalled(const struct table *table, const struct call_report *report,
                           size_t called)
{
    const struct call_function_report *last = NULL;
    const struct call_cells none = {0};
    size_t whole = 0;

    for (size_t i = called; i < report->count; i++) {
        const struct call_function_report *function = &report->of[i];

        if (function->is_part) {
            print_row(table, none, "%s%s", function->symbol, "");
            print_part(table, function);
        } else {
            last = function;
            whole++;
        }
    }
    if (whole > 1)
        print_row(table, none, "%s functions%s", number_text(whole).text, "");
    else if (last)
        print_row(table, none, "%s%s", last->symbol, "");
}

static void print_called(const struct table *of_all, const struct call_report *report,
                         const struct call_function_report *function)
{
    struct table of_function = *of_all;
    const struct table *table = &of_function;

    of_function.seconds = seconds_of(function);
    print_function(table, function);
    print_part(table, function);
    print_over_time(table, report, function);
    print_rows(table, &function->callers, print_caller, "  called by %s others%s",
               "  called by callers that were not counted%s%s");
    print_rows(table, &function->processes, print_process, "  in %s other processes%s",
               "  in processes that were not counted%s%s");
    if (function->unmatched)
        print_row(table, (struct call_cells){function->unmatched, function->unmatched_seen, NULL},
                  "  not counted: did not match%s%s", "", "");
    if (function->unchecked)
        print_row(table, (struct call_cells){function->unchecked, function->unchecked_seen, NULL},
                  "  not counted: may have matched%s%s", "", "");
    if (report->has_arguments)
        print_rows(table, &function->arguments, print_arguments, "  with %s other arguments%s",
                   "  with arguments that were not counted%s%s");
}

void calls_print_table(const struct call_report *report, const struct call_facts *facts, size_t top)
{
    const struct table table = {facts->seconds, top, report->has_times, report->has_words,
                                report->has_split};
    size_t called = 0;

    while (called < report->count && (report->of[called].calls || report->of[called].unmatched ||
                                      report->of[called].unchecked))
        called++;
    print_titles(&table);
    for (size_t i = 0; i < called; i++)
        print_called(&table, report, &report->of[i]);
    print_uncalled(&table, report, called);
}

/* ---- slow calls ---- */

enum { SLOW_DEPTH = 8 /* callers of a slow call that are listed */ };

static void put_moment(struct buffer *text, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm local;
    char moment[32];

    localtime_r(&seconds, &local);
    strftime(moment, sizeof(moment), "%H:%M:%S", &local);
    buffer_format(text, "%s.%03u", moment, (unsigned int)(ns / 1000000 % 1000));
}

static void print_slow_split(const struct slow_call *call)
{
    struct buffer text = {0};

    if (!call->is_split)
        return;
    put_parts(&text, &call->split);
    message_print("%26s  %.*s", "", (int)text.size, text.data);
    buffer_free(&text);
}

static void print_slow(const struct call_report *report, const struct slow_call *call)
{
    struct buffer text = {0};

    put_moment(&text, call->ended);
    message_print("%10s  %.*s  %s in %s%s%s", number_text_amount(call->took, UNIT_NS).text,
                  (int)text.size, text.data, report->symbols[call->function], call->process.name,
                  call->process.more[0] ? " " : "", call->process.more);
    print_slow_split(call);
    if (call->arguments)
        message_print("%26s  with %s", "", call->arguments);
    for (size_t i = 0; i < call->depth && i < SLOW_DEPTH; i++) {
        const struct call_named *caller = &call->stack[i];

        text.size = 0;
        if (caller->line)
            buffer_format(&text, ", %s:%u", caller->more, caller->line);
        buffer_byte(&text, '\0');
        message_print("%26s  called by %s%s", "", caller->name, text.data);
    }
    if (call->depth > SLOW_DEPTH)
        message_print("%26s  and %zu more", "", call->depth - SLOW_DEPTH);
    buffer_free(&text);
}

void calls_print_slow(const struct call_report *report, size_t top)
{
    size_t count = report->slow_count < top ? report->slow_count : top;

    message_print("%s", "");
    message_print("%10s  %12s  SLOW CALLS: %s of %s", "TIME", "RETURNED", number_text(count).text,
                  number_text(report->slow_count).text);
    for (size_t i = 0; i < count; i++)
        print_slow(report, &report->slow[i]);
}
