// SPDX-License-Identifier: Apache-2.0
/* Text for the terminal: the functions whose weight differs between two recordings. */
#include "output/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/changes/changes.h"
#include "output/output.h"
#include "output/rows.h"
#include "output/summary/summary_text.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/inferred_name.h"
#include "util/number.h"
#include "util/utf8.h"

enum { SHOWN_MAX = 30 };

/* The comparison of one event. */
struct changes {
    FILE *file;
    const struct output_source *source;
    event_id event; /* 0: it is not compared */
    struct weight weight;
    const struct event_summary *summaries[2]; /* of the sides; NULL: none */
    bool is_counted; /* the weight is a value of an event that was counted */
    struct function_changes functions;
};

struct changes_output {
    struct output_source source;
    struct changes *events; /* by event id */
    uint32_t event_count;
    struct recording_idle idle; /* of what is compared */
};

/* True if the weight of a sample is a number of samples. It can be many: a line of folded stacks is
 * one sample. */
static bool counts_samples(const struct weight *weight)
{
    return !strcmp(weight->name, "samples");
}

static bool is_compared(const struct output_source *source, event_id event, const char *name)
{
    const struct comparison *comparison = source->comparison;

    if (!comparison->of_all_events)
        return event == source->event;
    return comparison_side_has(&comparison->sides[0], name) &&
           comparison_side_has(&comparison->sides[1], name);
}

static void init_event(struct changes *changes, FILE *file, const struct output_source *source,
                       event_id event)
{
    const char *name =
        profile_text(source->profile, profile_get_event(source->profile, event)->name);

    if (!is_compared(source, event, name))
        return;
    changes->file = file;
    changes->source = source;
    changes->event = event;
    changes->weight = weight_with_unit(source, event);
    for (int side = 0; side < 2; side++) {
        changes->summaries[side] = comparison_summary(&source->comparison->sides[side], name);
        changes->is_counted |=
            changes->summaries[side] && !changes->weight.is_one && !changes->weight.is_metric;
        changes->functions.wholes[side].has_parts = event_is_sched(source->profile, event);
    }
}

static void *changes_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct changes_output *output = xcalloc(1, sizeof(*output));

    (void)error;
    output->source = *source;
    output->event_count = profile_counts(source->profile).events;
    output->events = xcalloc(output->event_count + 1, sizeof(*output->events));
    for (event_id id = 1; id <= output->event_count; id++)
        init_event(&output->events[id], file, &output->source, id);
    return output;
}

static int changes_sample(void *state, const struct sample *sample, struct error *error)
{
    struct changes_output *output = state;
    struct changes *changes = &output->events[sample->event];
    int side = output_source_side(&output->source, sample);
    double weight;

    (void)error;
    if (!changes->event)
        return 0;
    idle_count(&output->source, sample, &output->idle);
    weight = (double)sample_weight(&changes->weight, sample);
    if (weight == 0)
        return 0;
    if (idle_is_left_out(&output->source, sample)) {
        if (changes->is_counted) /* functions have a share of all of the time */
            row_interval_add_whole(&changes->functions.wholes[side], sample, changes->weight.value);
        return 0;
    }
    if (changes->is_counted)
        function_changes_note(&changes->functions, output->source.profile, side, sample,
                              changes->weight.value);
    function_changes_add(&changes->functions, side, sample->stack,
                         sample->flags & SAMPLE_RELEASE ? -weight : weight,
                         counts_samples(&changes->weight) ? (uint64_t)weight : !sample->is_part);
    return 0;
}

/* The text of an amount, with "-" if it is negative and `plus` if it is positive. */
static struct number_text cell(const struct changes *changes, double amount, const char *plus)
{
    uint64_t rounded = whole_part(fabs(amount) + 0.5);
    struct number_text text, number = counts_samples(&changes->weight) || !rounded
                                          ? number_text(rounded)
                                          : number_text_amount(rounded, changes->weight.unit);

    snprintf(text.text, sizeof(text.text), "%s%.38s",
             !rounded     ? ""
             : amount < 0 ? "-"
                          : plus,
             number.text);
    return text;
}

/* Write the total of all hits of a side, how sure it is, and how much of the time it was seen. */
static void put_all_hits(const struct changes *changes, int side)
{
    const struct comparison_side *of = &changes->source->comparison->sides[side];
    const struct event_summary *summary = changes->summaries[side];
    struct buffer text = {0};

    if (!summary || !changes->is_counted || !summary->windows)
        return;
    summary_text_of_sum(summary, changes->weight.value, changes->weight.unit, &text);
    buffer_text(&text, "; ");
    summary_text_of_hits(of->profile, summary, &text);
    fprintf(changes->file, "; all hits of the recording: %.*s", (int)text.size, text.data);
    buffer_free(&text);
}

static void put_side(const struct changes *changes, int side, const char *label)
{
    const struct comparison_side *of = &changes->source->comparison->sides[side];
    char *name = utf8_clean_string(of->name);
    uint64_t samples = changes->functions.samples[side];

    fprintf(changes->file, "%-10s%s: %s in %s sample%s, %.1f s%s", label, name,
            cell(changes, changes->functions.totals[side], "").text, number_text(samples).text,
            samples == 1 ? "" : "s", (double)(of->to_ms - of->from_ms) / 1000,
            of->totals.cut ? " (the recording was cut)" : "");
    put_all_hits(changes, side);
    fputc('\n', changes->file);
    free(name);
}

static void put_head(const struct changes *changes, const struct recording_totals *totals,
                     double scale)
{
    static const char *const whys[] = {
        [PER_TIME] = "to the duration of the second",
        [PER_TOTAL] = "to the total of the second",
        [PER_NONE] = "as it is",
    };
    const struct output_source *source = changes->source;
    const struct profile *profile = source->profile;
    struct output_source of_event = *source;
    struct buffer idle = {0};

    of_event.event = changes->event;
    fprintf(changes->file, "%s, %s%s\n",
            profile_text(profile, profile_get_event(profile, changes->event)->name),
            changes->weight.is_change ? "change of " : "", changes->weight.name);
    put_side(changes, 0, "before");
    put_side(changes, 1, "after");
    fprintf(changes->file, "before is multiplied by %.4g, %s\n", scale,
            whys[source->comparison->per]);
    idle_text(&of_event, totals, &idle);
    if (idle.size)
        fprintf(changes->file, "%.*s\n", (int)idle.size, idle.data);
    buffer_free(&idle);
}

/* The change as a part of what was before: "+12.5 %". */
static struct number_text percent(double before, double after)
{
    struct number_text text;

    if (before > 0)
        snprintf(text.text, sizeof(text.text), "%+.1f %%", 100 * (after - before) / before);
    else
        snprintf(text.text, sizeof(text.text), "%s", after > 0 ? "new" : "");
    return text;
}

static void put_row(const struct changes *changes, const struct function_change *function)
{
    bool is_self = changes->source->comparison->sort == SORT_SELF;
    const double *sides = is_self ? function->self : function->total;
    const double *others = is_self ? function->total : function->self;

    fprintf(changes->file, "%14s  %14s  %14s  %11s  %14s  %14s  %s\n",
            cell(changes, sides[0], "").text, cell(changes, sides[1], "").text,
            cell(changes, function->change, "+").text, percent(sides[0], sides[1]).text,
            cell(changes, function->noise, "").text, cell(changes, others[1] - others[0], "+").text,
            function->name);
}

/* Write the functions that have changed by more than chance explains. */
static void put_functions(const struct changes *changes, const struct function_change *list,
                          size_t count)
{
    bool is_self = changes->source->comparison->sort == SORT_SELF;
    size_t shown = 0, clear = 0;

    for (size_t i = 0; i < count; i++) {
        if (fabs(list[i].change) <= list[i].noise)
            continue;
        if (!clear++)
            fprintf(changes->file, "\n%14s  %14s  %14s  %11s  %14s  %14s\n", "before", "after",
                    "change", "", "noise", is_self ? "with callees" : "without callees");
        if (shown == SHOWN_MAX)
            continue;
        put_row(changes, &list[i]);
        shown++;
    }
    if (clear > shown)
        fprintf(changes->file, "%zu more functions have changed by more than the noise\n",
                clear - shown);
    fprintf(changes->file, "%zu %s not changed by more than chance explains\n", count - clear,
            count - clear == 1 ? "function has" : "functions have");
}

/* What is known of the totals of a side. */
static void set_cover(const struct changes *changes, int side, bool is_part,
                      struct change_options *options)
{
    const struct output_source *source = changes->source;
    const struct event_summary *summary = changes->summaries[side];
    const struct function_changes *functions = &changes->functions;
    struct row_cover *cover = &options->covers[side];
    double seen;

    if (!summary || !changes->is_counted)
        return;
    *cover = rows_cover_by(source->profile, summary, changes->event, changes->weight.value,
                           &functions->wholes[side], is_part);
    seen = cover->is_known && !is_part ? 1 - cover->unsampled : 0;
    if (summary->hits == 0 && summary->span_ns)
        seen = (double)summary->covered_ns / (double)summary->span_ns;
    options->represents[side] = seen > 0 ? 1 / seen : 0;
}

/* Write how many names are inferred, and how many functions without a name are left out. */
static void put_doubts(FILE *file, const struct function_change *list, size_t count,
                       size_t left_out)
{
    size_t inferred = 0;

    for (size_t i = 0; i < count; i++)
        inferred += list[i].name[0] == INFERRED_NAME;
    if (inferred)
        fprintf(file, "%zu %s with %c: inferred from what calls the function, and what it calls\n",
                inferred, inferred == 1 ? "name begins" : "names begin", INFERRED_NAME);
    if (left_out)
        fprintf(file,
                "%zu native %s not compared: only the offset is known, in files of different "
                "builds\n",
                left_out, left_out == 1 ? "function is" : "functions are");
}

static void put_event(const struct changes *changes, const struct recording_totals *totals)
{
    const struct comparison *comparison = changes->source->comparison;
    struct change_options options = {
        .scale = comparison_scale(comparison, changes->functions.totals),
        .sort = comparison->sort,
        .by_share = comparison->per == PER_TOTAL,
    };
    struct function_change *list;
    size_t count, left_out;

    for (int side = 0; side < 2; side++)
        set_cover(changes, side, totals->left_out > 0, &options);
    list = function_changes_list(&changes->functions, changes->source->profile, &options, &count,
                                 &left_out);
    put_head(changes, totals, options.scale);
    put_functions(changes, list, count);
    put_doubts(changes->file, list, count, left_out);
    free(list);
}

static int changes_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct changes_output *output = state;
    struct recording_totals own = totals ? *totals : (struct recording_totals){0};
    const char *before = "";

    (void)error;
    own.idle = output->idle;
    for (event_id id = 1; id <= output->event_count; id++) {
        struct changes *changes = &output->events[id];

        if (totals && changes->event) {
            fputs(before, changes->file);
            put_event(changes, &own);
            before = "\n";
        }
        function_changes_free(&changes->functions);
    }
    free(output->events);
    free(output);
    return 0;
}

const struct output_format changes_format = {
    .name = "changes",
    .lists_idle = true,
    .wants_changes = true,
    .begin = changes_begin,
    .sample = changes_sample,
    .finish = changes_finish,
};
