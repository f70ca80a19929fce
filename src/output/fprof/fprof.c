// SPDX-License-Identifier: Apache-2.0
/*
 * The format of fprof:analyse/1 (fprof.erl, do_analyse_1() 29.1.1:3117): terms that file:consult/1
 * reads, and that converters such as erlgrind take.
 *
 *      {analysis_options, [...]}.
 *      [{totals, CNT, ACC, OWN}].
 *      [{"<0.85.0>", CNT, undefined, OWN}, {spawned_by, "<0.82.0>"}, ...].
 *      {[{Caller, CNT, ACC, OWN}, ...], {Function, CNT, ACC, OWN}, [{Called, CNT, ACC, OWN}, ...]}.
 *      ...
 *
 * The functions of a process follow its term. The pseudo functions `suspend` and `garbage_collect`
 * have the time in which the process did not run, and that of its collections. The own time of
 * `suspend` is 0, so that the own time of a process is the time that it ran. fprof counts calls;
 * samples do not, so CNT is the number of samples.
 *
 * With `prof --per total`, the totals are followed by the functions of all processes together, and
 * there are no processes: fprof has both with {totals, true}, but then converters count each
 * function twice.
 */
#include "output/fprof/fprof_calls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/formats.h"
#include "output/fprof/fprof_term.h"
#include "output/prof/prof.h"
#include "output/weight.h"
#include "profile/events.h"
#include "profile/microstates.h"
#include "util/alloc.h"
#include "util/number.h"

enum { COLUMN = 48 }; /* where the numbers of a line begin */

/* A process keeps its identity when its name changes. */
struct fprof_process_key {
    uint64_t identity;
    uint64_t target;
};

/* The samples of a process with the same stack and kind. */
struct group {
    uint32_t process; /* id in fprof.processes; 0: of all processes */
    view_stack_id stack;
    uint32_t kind; /* enum fprof_kind */
};

struct fprof {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct intern processes; /* struct fprof_process_key */
    process_id *newest;      /* entry of each, with its present name */
    size_t newest_room;
    struct intern groups;
    struct group_cost {
        uint64_t samples, cost;
    } * costs; /* by id of the group */
    size_t cost_room;
    bool in_total;     /* functions of all processes together, else of each process */
    bool has_time_off; /* the event measures also the time in which processes do not run */
    uint64_t left_out; /* samples without a process, or without Erlang code in their stacks */
    struct fprof_calls calls;
};

static void *fprof_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct fprof *fprof = xcalloc(1, sizeof(*fprof));

    (void)error;
    fprof->file = file;
    fprof->source = *source;
    fprof->weight = weight_with_unit(source, source->event);
    fprof->in_total = source->prof && source->prof->per == PROF_PER_TOTAL;
    fprof->has_time_off = event_is_wall(source->profile, source->event) ||
                          event_is_sched(source->profile, source->event);
    intern_init(&fprof->processes, sizeof(struct fprof_process_key),
                sizeof(struct fprof_process_key));
    intern_init(&fprof->groups, sizeof(struct group), sizeof(struct group));
    fprof_calls_init(&fprof->calls);
    return fprof;
}

static bool is_off(const struct sample *sample)
{
    return sample->status == STATUS_RUNNABLE || sample->status == STATUS_SUSPENDED ||
           profile_status_waits((enum process_status)sample->status);
}

static enum fprof_kind kind_of(const struct fprof *fprof, const struct sample *sample)
{
    if (microstate_is_gc((enum microstate)sample->microstate) ||
        sample->status == STATUS_GARBAGE_COLLECTING)
        return FPROF_GC;
    return fprof->has_time_off && is_off(sample) ? FPROF_OFF : FPROF_OWN;
}

static uint32_t process_of(struct fprof *fprof, process_id id)
{
    const struct process_entry *process = profile_get_process(fprof->source.profile, id);
    const struct fprof_process_key key = {process->identity, process->target};
    uint32_t at = intern_add(&fprof->processes, &key);

    fprof->newest = xgrow(fprof->newest, &fprof->newest_room, at, sizeof(*fprof->newest));
    fprof->newest[at] = id;
    return at;
}

static int fprof_sample(void *state, const struct sample *sample, struct error *error)
{
    struct fprof *fprof = state;
    struct group group = {.kind = kind_of(fprof, sample)};
    struct group_cost *sum;
    uint32_t id;

    (void)error;
    if (!sample->process) {
        fprof->left_out++;
        return 0;
    }
    if (!fprof->in_total)
        group.process = process_of(fprof, sample->process);
    group.stack = view_of_sample(fprof->source.view, sample);
    id = intern_add(&fprof->groups, &group);
    fprof->costs = xgrow(fprof->costs, &fprof->cost_room, id, sizeof(*fprof->costs));
    sum = &fprof->costs[id];
    sum->samples++;
    sum->cost = saturating_sum(sum->cost, sample_weight(&fprof->weight, sample));
    return 0;
}

/* ---- writing ---- */

/* A time in ms, exact to the ns; another cost as it is. */
static void put_cost(const struct fprof *fprof, uint64_t cost, struct buffer *line)
{
    if (fprof->weight.unit == UNIT_NS)
        buffer_format(line, "%" PRIu64 ".%06" PRIu64, cost / 1000000, cost % 1000000);
    else
        buffer_format(line, "%" PRIu64 ".0", cost);
}

static void put_function(const struct fprof *fprof, uint32_t function, struct buffer *line)
{
    if (function == FPROF_UNDEFINED)
        buffer_text(line, "undefined");
    else if (function == FPROF_SUSPEND)
        buffer_text(line, "suspend");
    else if (function == FPROF_COLLECT)
        buffer_text(line, "garbage_collect");
    else
        fprof_term_function(line, fprof_name(&fprof->calls, function));
}

/* Write `before`, what the line is about, its numbers, and `after`. */
static void write_line(const struct fprof *fprof, const char *before, struct buffer *what,
                       const struct fprof_cost *cost, bool has_acc, const char *after)
{
    struct buffer line = {0};

    buffer_text(&line, before);
    buffer_put(&line, what->data, what->size);
    buffer_byte(&line, ',');
    while (line.size < COLUMN)
        buffer_byte(&line, ' ');
    buffer_format(&line, " %" PRIu64 ", ", cost->samples);
    if (has_acc)
        put_cost(fprof, cost->acc, &line);
    else
        buffer_text(&line, "undefined");
    buffer_text(&line, ", ");
    put_cost(fprof, cost->own, &line);
    buffer_text(&line, after);
    fwrite(line.data, 1, line.size, fprof->file);
    putc('\n', fprof->file);
    buffer_free(&line);
    what->size = 0;
}

/* Write the pairs of a list: of by_callee their callers, of by_caller the functions that are
 * called. */
static void write_pairs(const struct fprof *fprof, const uint32_t *ids, size_t count, bool callers)
{
    struct buffer what = {0};

    fputs(callers ? "{[" : " [", fprof->file);
    for (size_t i = 0; i < count; i++) {
        const struct fprof_pair *pair = fprof_pair_get(&fprof->calls, ids[i]);
        bool is_last = i + 1 == count;

        put_function(fprof, callers ? pair->caller : pair->callee, &what);
        write_line(fprof, i ? "  {" : "{", &what, &fprof->calls.costs[ids[i]], true,
                   !is_last  ? "},"
                   : callers ? "}],"
                             : "}]}.");
    }
    if (!count)
        fputs(callers ? "],\n" : "]}.\n", fprof->file);
    buffer_free(&what);
}

static void write_columns(const struct fprof *fprof)
{
    fprintf(fprof->file, "\n%%%*s CNT, ACC, OWN\n", COLUMN - 1, "");
}

static void write_function(const struct fprof *fprof, const struct fprof_section *section,
                           const struct fprof_function *function)
{
    struct buffer what = {0};
    size_t first, count = fprof_section_called(&fprof->calls, section, function->number, &first);

    write_pairs(fprof, fprof->calls.by_callee + function->first, function->count, true);
    put_function(fprof, function->number, &what);
    write_line(fprof, " { ", &what, &function->cost, true, "},     %");
    write_pairs(fprof, fprof->calls.by_caller + first, count, false);
    putc('\n', fprof->file);
    buffer_free(&what);
}

/* Write the sums of all processes; ACC is the time of the recording. */
static void write_totals(const struct fprof *fprof, const struct fprof_section *sections,
                         size_t count, const struct recording_totals *totals)
{
    struct output_range range = output_source_range(&fprof->source, totals);
    struct fprof_cost cost = {.samples = 0};
    struct buffer what = {0};

    for (size_t i = 0; i < count; i++) {
        cost.samples += sections[i].cost.samples;
        cost.own = saturating_sum(cost.own, sections[i].cost.own);
    }
    cost.acc = fprof->weight.unit == UNIT_NS ? range.to - range.from : cost.own;
    write_columns(fprof);
    buffer_text(&what, "totals");
    write_line(fprof, "[{ ", &what, &cost, true, "}].  %%%");
    buffer_free(&what);
}

/* Write the term of a process, with what is known of its start. */
static void write_process(const struct fprof *fprof, const struct fprof_section *section)
{
    const struct profile *profile = fprof->source.profile;
    const struct process_entry *entry =
        profile_get_process(profile, fprof->newest[section->process]);
    const char *parent =
        entry->parent ? profile_text(profile, profile_get_process(profile, entry->parent)->pid)
                      : "";
    string_id name = process_entry_name(entry);
    struct buffer what = {0};

    if (name)
        fprintf(fprof->file, "%%%% %s\n", profile_text(profile, name));
    fprof_term_string(&what, profile_text(profile, entry->pid));
    write_line(fprof, "[{ ", &what, &section->cost, false,
               *parent || entry->initial_call ? "},   %%" : "}].   %%");
    if (*parent) {
        fprof_term_string(&what, parent);
        fprintf(fprof->file, " { spawned_by, %.*s}%s\n", (int)what.size, what.data,
                entry->initial_call ? "," : "].");
        what.size = 0;
    }
    if (entry->initial_call) {
        fprof_term_function(&what, profile_text(profile, entry->initial_call));
        fprintf(fprof->file, " { initial_calls, [%.*s]}].\n", (int)what.size, what.data);
    }
    buffer_free(&what);
}

static void write_head(const struct fprof *fprof)
{
    const struct profile *profile = fprof->source.profile;

    fprintf(fprof->file,
            "%%%% -*- coding: utf-8 -*-\n"
            "%%%% Analysis results of beamflame %s, from samples of event %s\n"
            "%%%% CNT: samples, not calls. ACC, OWN: %s, %s.\n",
            fprof->source.header->version,
            profile_text(profile, profile_get_event(profile, fprof->source.event)->name),
            fprof->weight.name,
            fprof->weight.unit == UNIT_NS ? "in ms" : profile_unit_name(fprof->weight.unit));
    if (fprof->left_out)
        fprintf(fprof->file,
                "%%%% %" PRIu64 " samples are left out: they have no Erlang function.\n",
                fprof->left_out);
    fprintf(fprof->file,
            "{  analysis_options,\n"
            " [{callers, true},\n"
            "  {sort, acc},\n"
            "  {totals, %s},\n"
            "  {details, %s}]}.\n",
            fprof->in_total ? "true" : "false", fprof->in_total ? "false" : "true");
}

static void add_groups(struct fprof *fprof)
{
    for (uint32_t id = 1; id <= fprof->groups.count; id++) {
        const struct group *group = intern_get(&fprof->groups, id);
        const struct group_cost *cost = &fprof->costs[id];

        struct fprof_stack stack = {.process = group->process,
                                    .kind = (enum fprof_kind)group->kind};

        stack.count = view_frames(fprof->source.view, group->stack, &stack.frames);
        if (!fprof_calls_add(&fprof->calls, &stack, cost->samples, cost->cost))
            fprof->left_out += cost->samples;
    }
    fprof_calls_sort(&fprof->calls);
}

static void write_all(struct fprof *fprof, const struct recording_totals *totals)
{
    struct fprof_section *sections;
    size_t count;

    add_groups(fprof);
    sections = fprof_calls_sections(&fprof->calls, &count);
    write_head(fprof);
    write_totals(fprof, sections, count, totals);
    for (size_t i = 0; i < count; i++) {
        if (!fprof->in_total) {
            write_columns(fprof);
            write_process(fprof, &sections[i]);
        }
        putc('\n', fprof->file);
        for (size_t f = 0; f < sections[i].count; f++)
            write_function(fprof, &sections[i], &sections[i].functions[f]);
    }
    fprof_sections_free(sections, count);
}

static int fprof_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct fprof *fprof = state;

    (void)error;
    if (totals)
        write_all(fprof, totals);
    intern_free(&fprof->processes);
    free(fprof->newest);
    intern_free(&fprof->groups);
    free(fprof->costs);
    fprof_calls_free(&fprof->calls);
    free(fprof);
    return 0;
}

const struct output_format fprof_format = {
    .name = "fprof",
    .suffixes = {".fprof", ".fprof.gz"},
    .one_event = true,
    .begin = fprof_begin,
    .sample = fprof_sample,
    .finish = fprof_finish,
};
