// SPDX-License-Identifier: Apache-2.0
/*
 * The tables: sums of samples by process and function, sorted, without the rows that chance
 * explains.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "output/output.h"
#include "output/prof/prof.h"
#include "output/rows.h"
#include "util/intern.h"

/* A function of a table. Halves are of 95 % intervals: 0 if the number is exact, NAN if the
 * interval is unknown. */
struct prof_row {
    const char *function;
    uint32_t process; /* number of the table's process */
    uint64_t own, samples;
    double own_half;
    bool has_calls; /* else nobody counted calls of the function */
    uint64_t calls;
    double calls_half;
    bool is_selected; /* by the pattern */
    bool is_chance;
};

/* Own time or words of a call. NAN: calls are not known, or are 0. */
double prof_row_per_call(const struct prof_row *row);
double prof_row_per_call_half(const struct prof_row *row);

struct prof_table {
    process_id process; /* 0: none */
    bool is_process;    /* it is of one process, or of samples without a process */
    size_t folded;      /* it is of so many processes that chance explains */
    uint64_t own, samples;
    double own_half; /* NAN: unknown, also if events are added up */
    struct prof_row *rows;
    size_t count;
    struct rows_rest rest; /* with the rows, it adds up to the table */
};

struct prof_tables {
    const struct prof_options *options;
    const struct output_source *source;
    event_id event; /* of own time or words; 0: calls are counted */
    uint64_t own, samples;
    bool has_selected;           /* a row that the pattern selects */
    bool has_calls;              /* of some rows */
    bool own_exact, calls_exact; /* of all rows */
    struct prof_table *list;     /* the greatest first, the folded processes last */
    size_t count;
    struct prof_row *rows; /* of all tables */
};

/* The unit of own time, words or calls. */
enum unit prof_tables_unit(const struct prof_tables *tables);

/* All samples of a process. */
struct prof_sum {
    process_id process; /* 0: none */
    bool is_known;      /* else they are of several events, which have no interval together */
    bool is_chance;
    double half;
};

/* Sort `count` rows, which are taken over, into tables. `sums` are by number of the process. */
void prof_tables_make(struct prof_tables *tables, struct prof_row *rows, size_t count,
                      const struct prof_sum *sums);
void prof_tables_free(struct prof_tables *tables);

/* The pid of a table's process; its name, label or initial call; its node. "": none, or unknown. */
const char *prof_tables_pid(const struct prof_tables *tables, const struct prof_table *table);
const char *prof_tables_name(const struct prof_tables *tables, const struct prof_table *table);
const char *prof_tables_node(const struct prof_tables *tables, const struct prof_table *table);

/* ---- prof_text.c, prof_data.c ---- */

void prof_text_write(FILE *file, const struct prof_tables *tables);
void prof_text_write_tprof(FILE *file, const struct prof_tables *tables);
void prof_data_write_csv(FILE *file, const struct prof_tables *tables);
void prof_data_write_json(FILE *file, const struct prof_tables *tables);
