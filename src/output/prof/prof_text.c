// SPDX-License-Identifier: Apache-2.0
/* Tables for people, and in the layout of tprof:format/1 (tprof.erl, format_impl()
 * 27.3.4.1:1107). */
#include "output/prof/prof_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "output/prof/prof_grid.h"
#include "util/number.h"

enum { NS_PER_US = 1000 };

/* A number as text. */
struct prof_cell {
    char text[48];
};

/* Own time in us, or words, or calls. */
static uint64_t shown(const struct prof_tables *tables, uint64_t own)
{
    return prof_tables_unit(tables) == UNIT_NS ? own / NS_PER_US + (own % NS_PER_US >= 500) : own;
}

static double shown_double(const struct prof_tables *tables, double own)
{
    return prof_tables_unit(tables) == UNIT_NS ? own / NS_PER_US : own;
}

static struct prof_cell number_cell(uint64_t number)
{
    struct prof_cell cell;

    snprintf(cell.text, sizeof(cell.text), "%" PRIu64, number);
    return cell;
}

/* "+- 120", "+- ?", or nothing if the number is exact. Halves are rounded up. */
static struct prof_cell half_cell(double half)
{
    struct prof_cell cell = {"+- ?"};

    if (half == 0)
        cell.text[0] = '\0';
    else if (!isnan(half))
        snprintf(cell.text, sizeof(cell.text), "+- %" PRIu64, whole_part(ceil(half)));
    return cell;
}

static struct prof_cell decimal_cell(const char *before, double number)
{
    struct prof_cell cell = {"-"};

    if (!isnan(number))
        snprintf(cell.text, sizeof(cell.text), "%s%.2f", before, number);
    return cell;
}

static double percent(const struct prof_table *table, uint64_t own)
{
    return number_text_percent(own, table->own);
}

/* The title of own time is `time`. */
static const char *own_title(const struct prof_tables *tables, const char *time)
{
    return prof_tables_unit(tables) == UNIT_NS ? time : "WORDS";
}

/* ---- what tables are of ---- */

static void write_sureness(FILE *file, bool is_exact, bool has_halves)
{
    if (is_exact)
        fputs("exact\n", file);
    else
        fprintf(file, "from samples%s\n", has_halves ? ", +- is half of the 95 % interval" : "");
}

/* Write how sure the columns are. `has_halves`: the table has them. */
static void write_head(FILE *file, const struct prof_tables *tables, bool has_halves)
{
    const struct profile *profile = tables->source->profile;

    if (tables->event) {
        fprintf(file, "%s of event %s: ", own_title(tables, "TIME"),
                profile_text(profile, profile_get_event(profile, tables->event)->name));
        write_sureness(file, tables->own_exact, has_halves);
    }
    fputs(tables->has_calls ? "CALLS where events counted them: " : "CALLS: ", file);
    if (tables->has_calls)
        write_sureness(file, tables->calls_exact, has_halves);
    else
        fputs("not counted for the functions below\n", file);
}

/* Write the line above the table of a process: its pid and, with `has_name`, its name. */
static void write_title(FILE *file, const struct prof_tables *tables,
                        const struct prof_table *table, bool has_name)
{
    bool has_nodes = profile_counts(tables->source->profile).targets > 1;
    const char *name = has_name ? prof_tables_name(tables, table) : "";
    const char *node = has_name && has_nodes ? prof_tables_node(tables, table) : "";

    if (!table->is_process && !table->folded) {
        putc('\n', file);
        return;
    }
    fputs("\n****** ", file);
    if (table->folded)
        fprintf(file, "%zu other processes", table->folded);
    else if (!table->process)
        fputs("no process", file);
    else
        fprintf(file, "Process %s%s%s%s%s", prof_tables_pid(tables, table), *name ? " " : "", name,
                *node ? " of " : "", node);
    fprintf(file, "  --  %.2f%% of total *** \n", number_text_percent(table->own, tables->own));
}

static struct buffer rest_name(const struct prof_table *table)
{
    struct buffer text = {0};

    rows_rest_text(&table->rest, "function", &text);
    buffer_byte(&text, '\0');
    return text;
}

/* ---- for people ---- */

static void add_own(struct prof_grid *grid, const struct prof_tables *tables, uint64_t own,
                    double half)
{
    if (!tables->event)
        return;
    prof_grid_add(grid, number_cell(shown(tables, own)).text);
    prof_grid_add(grid, half_cell(shown_double(tables, half)).text);
}

static void add_per_call(struct prof_grid *grid, const struct prof_tables *tables,
                         const struct prof_row *row)
{
    double per_call = row ? prof_row_per_call(row) : NAN, half = 0;

    if (!tables->event)
        return;
    if (!isnan(per_call))
        half = prof_row_per_call_half(row);
    prof_grid_add(grid, row ? decimal_cell("", shown_double(tables, per_call)).text : "");
    prof_grid_add(grid, half > 0 ? decimal_cell("+- ", shown_double(tables, half)).text : "");
}

static void add_row(struct prof_grid *grid, const struct prof_tables *tables,
                    const struct prof_table *table, const struct prof_row *row)
{
    prof_grid_add(grid, row->function);
    prof_grid_add(grid, row->has_calls ? number_cell(row->calls).text : "-");
    prof_grid_add(grid, row->has_calls ? half_cell(row->calls_half).text : "");
    add_own(grid, tables, row->own, row->own_half);
    add_per_call(grid, tables, row);
    prof_grid_add(grid, decimal_cell("", percent(table, row->own)).text);
    prof_grid_add(grid, number_cell(row->samples).text);
}

/* Add a row that is no function: of `own` time, words or calls. */
static void add_sum(struct prof_grid *grid, const struct prof_tables *tables,
                    const struct prof_table *table, const char *name, uint64_t own, double half,
                    uint64_t samples)
{
    prof_grid_add(grid, name);
    prof_grid_add(grid, tables->event ? "" : number_cell(own).text);
    prof_grid_add(grid, "");
    add_own(grid, tables, own, half);
    add_per_call(grid, tables, NULL);
    prof_grid_add(grid, decimal_cell("", percent(table, own)).text);
    prof_grid_add(grid, number_cell(samples).text);
}

static struct prof_grid begin_text(const struct prof_tables *tables)
{
    static const struct prof_column of_calls[] = {
        {.title = "FUNCTION"}, {.title = "CALLS"},   {.title = "+-", .is_optional = true},
        {.title = "%"},        {.title = "SAMPLES"},
    };
    const struct prof_column columns[] = {
        {.title = "FUNCTION"},
        {.title = "CALLS"},
        {.title = "+-", .is_optional = true},
        {.title = own_title(tables, "TIME (us)")},
        {.title = "+-", .is_optional = true},
        {.title = "PER CALL"},
        {.title = "+-", .is_optional = true},
        {.title = "%"},
        {.title = "SAMPLES"},
    };

    if (!tables->event)
        return prof_grid_begin(of_calls, sizeof(of_calls) / sizeof(of_calls[0]));
    return prof_grid_begin(columns, sizeof(columns) / sizeof(columns[0]));
}

void prof_text_write(FILE *file, const struct prof_tables *tables)
{
    write_head(file, tables, true);
    for (size_t i = 0; i < tables->count; i++) {
        const struct prof_table *table = &tables->list[i];
        struct prof_grid grid = begin_text(tables);
        struct buffer rest = rest_name(table);

        write_title(file, tables, table, true);
        for (size_t row = 0; row < table->count; row++)
            add_row(&grid, tables, table, &table->rows[row]);
        if (table->rest.value)
            add_sum(&grid, tables, table, rest.data, table->rest.value, 0, table->rest.samples);
        add_sum(&grid, tables, table, "", table->own, table->own_half, table->samples);
        prof_grid_write(&grid, file);
        buffer_free(&rest);
    }
}

/* ---- as tprof ---- */

static struct prof_grid begin_tprof(const struct prof_tables *tables)
{
    static const struct prof_column of_calls[] = {
        {.title = "FUNCTION"},
        {.title = "CALLS", .width = 5},
        {.title = "%", .width = 5, .in_brackets = true},
    };
    const struct prof_column columns[] = {
        {.title = "FUNCTION"},
        {.title = "CALLS", .width = 5},
        {.title = own_title(tables, "TIME (\u03bcs)")},
        {.title = "PER CALL"},
        {.title = "%", .width = 5, .in_brackets = true},
    };

    if (!tables->event)
        return prof_grid_begin(of_calls, sizeof(of_calls) / sizeof(of_calls[0]));
    return prof_grid_begin(columns, sizeof(columns) / sizeof(columns[0]));
}

static void add_tprof(struct prof_grid *grid, const struct prof_tables *tables, const char *name,
                      const char *calls, uint64_t own, const char *per_call, const char *share)
{
    prof_grid_add(grid, name);
    prof_grid_add(grid, calls);
    if (tables->event) {
        prof_grid_add(grid, number_cell(shown(tables, own)).text);
        prof_grid_add(grid, per_call);
    }
    prof_grid_add(grid, share);
}

static void add_tprof_row(struct prof_grid *grid, const struct prof_tables *tables,
                          const struct prof_table *table, const struct prof_row *row)
{
    double per_call = shown_double(tables, prof_row_per_call(row));

    add_tprof(grid, tables, row->function, row->has_calls ? number_cell(row->calls).text : "-",
              row->own, decimal_cell("", per_call).text,
              decimal_cell("", percent(table, row->own)).text);
}

void prof_text_write_tprof(FILE *file, const struct prof_tables *tables)
{
    write_head(file, tables, false);
    for (size_t i = 0; i < tables->count; i++) {
        const struct prof_table *table = &tables->list[i];
        struct prof_grid grid = begin_tprof(tables);
        struct buffer rest = rest_name(table);

        write_title(file, tables, table, false);
        for (size_t row = 0; row < table->count; row++)
            add_tprof_row(&grid, tables, table, &table->rows[row]);
        if (table->rest.value)
            add_tprof(&grid, tables, rest.data,
                      tables->event ? "-" : number_cell(table->rest.value).text, table->rest.value,
                      "-", decimal_cell("", percent(table, table->rest.value)).text);
        add_tprof(&grid, tables, "", "", table->own, "", "100.0");
        prof_grid_write(&grid, file);
        buffer_free(&rest);
    }
}
