// SPDX-License-Identifier: Apache-2.0
/* `beamflame prof`: tables of functions, as Erlang's tprof prints them, from a recording. */
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "cli/verbose.h"
#include "output/formats.h"
#include "output/prof/prof.h"

enum { ROWS_MAX = 1000000 };

struct prof_command_options {
    struct report_options report;
    struct prof_options prof;
    struct function_name pattern;
    const char *output; /* NULL: standard output */
};

/* ---- options ---- */

/* In the order of enum prof_type and the enums after it. */

static const char *types(void)
{
    return "time, memory, count";
}

static const char *pers(void)
{
    return "total, process";
}

static const char *sorts(void)
{
    return "own, percent, calls, per-call, samples, function";
}

static const char *forms(void)
{
    return "text, tprof, csv, json, fprof";
}

/* Store the index of a word in a list of words. */
static int choose(const char *option, const char *words, const char *word, unsigned *ret_index,
                  struct error *error)
{
    const char *at = words;

    for (unsigned index = 0; *at; index++) {
        size_t size = strcspn(at, ",");

        if (strlen(word) == size && !strncmp(at, word, size)) {
            *ret_index = index;
            return 0;
        }
        at += size + strspn(at + size, ", ");
    }
    return error_set(error, ERROR_USAGE, "%s must be one of %s, not '%s'", option, words, word);
}

static int set_type(void *target, char *word, struct error *error)
{
    unsigned index = 0;

    if (choose("--type", types(), word, &index, error))
        return -1;
    ((struct prof_command_options *)target)->prof.type = (enum prof_type)index;
    return 0;
}

static int set_per(void *target, char *word, struct error *error)
{
    unsigned index = 0;

    if (choose("--per", pers(), word, &index, error))
        return -1;
    ((struct prof_command_options *)target)->prof.per = (enum prof_per)index;
    return 0;
}

static int set_sort(void *target, char *word, struct error *error)
{
    unsigned index = 0;

    if (choose("--sort", sorts(), word, &index, error))
        return -1;
    ((struct prof_command_options *)target)->prof.sort = (enum prof_sort)index;
    return 0;
}

static int set_form(void *target, char *word, struct error *error)
{
    unsigned index = 0;

    if (choose("--format", forms(), word, &index, error))
        return -1;
    ((struct prof_command_options *)target)->prof.form = (enum prof_form)index;
    return 0;
}

static int set_top(void *target, char *text, struct error *error)
{
    long value = 0;

    if (option_number("the number of functions", text, 1, ROWS_MAX, &value, error))
        return -1;
    ((struct prof_command_options *)target)->prof.top = (size_t)value;
    return 0;
}

static int set_pattern(void *target, char *text, struct error *error)
{
    struct prof_command_options *options = target;

    options->prof.pattern = &options->pattern;
    return function_name_parse(text, &options->pattern, error);
}

static const struct command_option table_list[] = {
    {"type", 0, "TYPE",
     "What functions are compared by: time (the default) is their own CPU time, of event cpu; "
     "memory is the words that they allocate, of event alloc; count is their calls, of events that "
     "count calls or hits (call, bif, nif, probe, usdt).",
     set_type, types},
    {"per", 0, "WHAT", "Make one table (total, the default), or a table for each process.", set_per,
     pers},
    {"pattern", 0, "MOD:FUN/ARITY",
     "List only these functions. `_` is any name or arity, `*` any characters: lists:_/_.",
     set_pattern, NULL},
    {"sort", 0, "COLUMN",
     "Sort by this column: own (time or words, the default), percent, calls, per-call, samples or "
     "function.",
     set_sort, sorts},
    {"top", 't', "N", "List the first N functions of each table.", set_top, NULL},
    {0},
};

static const struct command_option form_list[] = {
    {"output", 'o', "FILE", "Write FILE instead of standard output.", option_set_text, NULL,
     offsetof(struct prof_command_options, output)},
    {"format", 0, "FORMAT",
     "Write text for people (the default), what tprof:format/1 prints (tprof), csv, json, or what "
     "fprof:analyse/1 writes (fprof), with callers.",
     set_form, forms},
    {0},
};

/* An analysis of fprof has all functions, of one event. */
static int check_fprof(const struct prof_command_options *options, struct error *error)
{
    const struct prof_options *prof = &options->prof;

    if (prof->type == PROF_COUNT)
        return error_set(error, ERROR_USAGE,
                         "--format fprof has samples, not calls: give --type time or memory");
    if (prof->pattern || prof->top || prof->sort != PROF_SORT_OWN)
        return error_set(error, ERROR_USAGE,
                         "--format fprof has all functions, sorted by the time with callees: leave "
                         "out --pattern, --sort and --top");
    return 0;
}

/* The tables are one output of the recording, without a summary. */
static int check(void *target, struct error *error)
{
    struct prof_command_options *options = target;
    struct output_options *output = &options->report.output;
    const char *path = options->output ? options->output : "-";
    bool is_fprof = options->prof.form == PROF_FPROF;

    if (!path[0])
        return error_set(error, ERROR_USAGE, "-o needs a file name");
    if (is_fprof && check_fprof(options, error))
        return -1;
    if (is_fprof)
        output->settings.event = options->prof.type == PROF_TIME ? "cpu" : "alloc";
    output->settings.prof = &options->prof;
    output->no_summary = true;
    output->requests[0] =
        (struct output_request){.path = path, .format = is_fprof ? &fprof_format : &prof_format};
    output->count = 1;
    return report_options_check(&options->report, error);
}

static int take_arguments(void *target, char **arguments, bool after_dashes, struct error *error)
{
    if (!arguments[0])
        return error_set(error, ERROR_USAGE, "which recording? (beamflame prof FILE)");
    return report_options_take_arguments(&((struct prof_command_options *)target)->report,
                                         arguments, after_dashes, error);
}

static int run(int argc, char **argv)
{
    struct prof_command_options options = {.report.output.settings.view.grouping = {{GROUP_NAME}}};
    int result;

    if (command_line_parse(&prof_command, argc, argv, &options, &result)) {
        signals_end_program();
        result = report_files(&options.report);
    }
    report_options_free(&options.report);
    return result;
}

static const struct option_group groups[] = {
    {"Tables", table_list, 0},
    {"What to write", form_list, 0},
    {"", pager_option_list, offsetof(struct prof_command_options, report.output.no_pager)},
    {"", memory_option_list, 0},
    {"Which samples to count", selection_option_list,
     offsetof(struct prof_command_options, report.output.settings.selection)},
    {"", trace_option_list,
     offsetof(struct prof_command_options, report.output.settings.selection)},
    {"Which time to count", time_option_list,
     offsetof(struct prof_command_options, report.output.settings.selection)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command prof_command = {
    .name = "prof",
    .arguments = "FILE...",
    .summary = "tables of functions as tprof prints them, from a recording",
    .description =
        "Print the functions with the most own time, words or calls, from all that 'beamflame "
        "report' reads. The columns are those of Erlang's tprof, and the number of samples. "
        "Calls are shown where events of the recording counted them.",
    .groups = groups,
    .examples = "beamflame prof x.bfr                              # own time of functions\n"
                "beamflame prof x.bfr --type memory --per process\n"
                "beamflame prof x.bfr --pattern 'shop_*:_/_' --children-of shop_sup\n",
    .take_arguments = take_arguments,
    .check = check,
    .run = run,
};
