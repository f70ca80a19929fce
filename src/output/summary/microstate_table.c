// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "util/alloc.h"

enum {
    SCHEDULERS_MAX = 8, /* with a line of their own, for each VM */
    COLUMN_MIN = 5,
    SAMPLES_WIDTH = 7,                 /* up to 999,999 */
    COLUMN_UNKNOWN = MICROSTATE_COUNT, /* comes after the other states */
    COLUMN_WAIT,
    COLUMN_BUSY,
    COLUMNS,
};

static const char *const headings[COLUMNS] = {
    [MICROSTATE_EMULATOR] = "emulator",
    [MICROSTATE_BIF] = "bif",
    [MICROSTATE_NIF] = "nif",
    [MICROSTATE_GC_MINOR] = "minor gc",
    [MICROSTATE_GC_MAJOR] = "major gc",
    [MICROSTATE_GC] = "gc",
    [MICROSTATE_GC_HIBERNATE] = "hibernate",
    [MICROSTATE_PORT] = "port",
    [MICROSTATE_CHECK_IO] = "check io",
    [MICROSTATE_AUX] = "aux",
    [MICROSTATE_BUSY_WAIT] = "busy wait",
    [MICROSTATE_OTHER] = "other",
    [MICROSTATE_SLEEP] = "sleep",
    [COLUMN_UNKNOWN] = "unknown",
    [COLUMN_WAIT] = "no cpu",
    [COLUMN_BUSY] = "busy",
};

struct line {
    const struct microstate_row *first; /* of the rows in `sum` */
    uint32_t threads;
    bool is_rest; /* of the schedulers; else it may be all of them */
    char name[64];
    struct microstate_row sum;
};

struct microstate_table {
    struct line *lines;
    size_t count;
    int name_width;
    bool is_full;
    bool shown[COLUMNS]; /* false for columns that have only 0.0 */
};

static uint64_t cell(const struct microstate_row *row, int column)
{
    if (column == COLUMN_WAIT)
        return row->wait_ns;
    if (column == COLUMN_BUSY)
        return microstate_row_busy(row);
    return row->ns[column == COLUMN_UNKNOWN ? MICROSTATE_NONE : column];
}

static void add_to(struct line *line, const struct microstate_row *row)
{
    if (!line->threads++)
        line->first = row;
    microstate_row_add(&line->sum, row);
}

/* ---- which rows get a line ---- */

static bool is_same_type(const struct microstate_row *a, const struct microstate_row *b)
{
    return a->target == b->target && a->type == b->type;
}

/* The indices of rows with the longest sampled times; of equal times the first ones. */
struct busiest_rows {
    size_t rows[SCHEDULERS_MAX];
    size_t count;
};

static void find_busiest(struct busiest_rows *busiest, const struct microstate_row *rows,
                         size_t count)
{
    busiest->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = busiest->count;

        while (at && rows[busiest->rows[at - 1]].sampled_ns < rows[i].sampled_ns)
            at--;
        if (at == SCHEDULERS_MAX)
            continue;
        if (busiest->count < SCHEDULERS_MAX)
            busiest->count++;
        memmove(&busiest->rows[at + 1], &busiest->rows[at],
                (busiest->count - at - 1) * sizeof(*busiest->rows));
        busiest->rows[at] = i;
    }
}

static bool is_among(const struct busiest_rows *busiest, size_t row)
{
    for (size_t i = 0; i < busiest->count; i++)
        if (busiest->rows[i] == row)
            return true;
    return false;
}

/* Add lines for the rows of one type of one VM. */
static void add_lines(struct microstate_table *table, const struct microstate_row *rows,
                      size_t count)
{
    bool are_schedulers = rows->type == THREAD_SCHEDULER;
    struct line rest = {.is_rest = are_schedulers};
    struct busiest_rows busiest;

    if (are_schedulers && count > 1) {
        struct line *all = &table->lines[table->count++];

        for (size_t i = 0; i < count; i++)
            add_to(all, &rows[i]);
        if (!table->is_full)
            return;
    }
    find_busiest(&busiest, rows, count);
    for (size_t i = 0; i < count; i++) {
        if (are_schedulers && is_among(&busiest, i))
            add_to(&table->lines[table->count++], &rows[i]);
        else
            add_to(&rest, &rows[i]);
    }
    /* Many other threads never run: they get no line. */
    if (rest.threads && (are_schedulers || rest.sum.samples))
        table->lines[table->count++] = rest;
}

static void find_columns(struct microstate_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (int column = MICROSTATE_NONE + 1; column < COLUMNS; column++)
            /* Less than this is written as 0.0. */
            table->shown[column] |= number_text_percent(cell(&table->lines[i].sum, column),
                                                        table->lines[i].sum.span_ns) >= 0.05;
}

/* ---- text ---- */

static int width_of(int column)
{
    int width = (int)strlen(headings[column]);

    return width < COLUMN_MIN ? COLUMN_MIN : width;
}

static void name_line(const struct profile *profile, struct line *line)
{
    static const char *const kinds[] = {
        [THREAD_SCHEDULER] = "scheduler", [THREAD_DIRTY_CPU] = "dirty cpu",
        [THREAD_DIRTY_IO] = "dirty io",   [THREAD_AUX] = "aux",
        [THREAD_POLL] = "poll",           [THREAD_ASYNC] = "async",
    };
    const struct microstate_row *row = line->first;
    char pid[16] = "";

    if (row->target && profile_counts(profile).targets > 1)
        snprintf(pid, sizeof(pid), "%u: ", profile_get_target(profile, row->target)->pid);
    if (line->threads == 1)
        snprintf(line->name, sizeof(line->name), "%s%s %u", pid, kinds[row->type], row->number);
    else
        snprintf(line->name, sizeof(line->name), "%s%u %s", pid, line->threads,
                 line->is_rest                   ? "others"
                 : row->type == THREAD_SCHEDULER ? "schedulers"
                                                 : kinds[row->type]);
}

static void write_line(FILE *file, const struct microstate_table *table, const struct line *line)
{
    fprintf(file, "  %-*s", table->name_width, line->name);
    for (int i = MICROSTATE_NONE + 1; i < COLUMNS; i++)
        if (table->shown[i])
            fprintf(file, "  %*.1f", width_of(i),
                    number_text_percent(cell(&line->sum, i), line->sum.span_ns));
    fprintf(file, "  %*s\n", SAMPLES_WIDTH, number_text(line->sum.samples).text);
}

static void write_table(FILE *file, const struct microstate_table *table)
{
    fprintf(file, "\nwhat threads did, in %% of the time\n  %*s", table->name_width, "");
    for (int i = MICROSTATE_NONE + 1; i < COLUMNS; i++)
        if (table->shown[i])
            fprintf(file, "  %*s", width_of(i), headings[i]);
    fprintf(file, "  %*s\n", SAMPLES_WIDTH, "samples");
    for (size_t i = 0; i < table->count; i++)
        write_line(file, table, &table->lines[i]);
    if (table->shown[COLUMN_WAIT])
        fputs("  no cpu: ready to run, while other threads of the machine had the CPUs\n", file);
    if (table->shown[COLUMN_BUSY])
        fputs("  busy: on a CPU, without busy wait and sleep\n", file);
}

void microstate_table_write(FILE *file, const struct profile *profile,
                            const struct microstate_row *rows, size_t count, bool is_full)
{
    struct microstate_table table = {.is_full = is_full,
                                     .lines = xcalloc(2 * count + 1, sizeof(*table.lines))};

    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && is_same_type(&rows[from], &rows[to]);)
            to++;
        add_lines(&table, rows + from, to - from);
    }
    find_columns(&table);
    for (size_t i = 0; i < table.count; i++) {
        int width;

        name_line(profile, &table.lines[i]);
        width = (int)strlen(table.lines[i].name);
        if (width > table.name_width)
            table.name_width = width;
    }
    if (table.count)
        write_table(file, &table);
    free(table.lines);
}
