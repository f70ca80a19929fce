// SPDX-License-Identifier: Apache-2.0
/* Text for the terminal: the functions whose weight differs between two recordings. */
#include "output/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/changes/changes.h"
#include "output/output.h"
#include "output/rows.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"
#include "util/utf8.h"

enum { SHOWN_MAX = 30 };

struct changes {
    FILE *file;
    struct output_source source;
    struct weight weight;
    bool has_windows; /* the weight is a value of an event that was counted */
    struct function_changes functions;
};

/* True if the weight of a sample is a number of samples. It can be many: a line of folded stacks is
 * one sample. */
static bool counts_samples(const struct weight *weight)
{
    return !strcmp(weight->name, "samples");
}

static void *changes_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct changes *changes = xcalloc(1, sizeof(*changes));

    (void)error;
    changes->file = file;
    changes->source = *source;
    changes->weight = weight_with_unit(source, source->event);
    for (int side = 0; side < 2; side++) {
        changes->has_windows |= source->comparison->sides[side].summary &&
                                !changes->weight.is_one && !changes->weight.is_metric;
        changes->functions.wholes[side].has_parts = event_is_sched(source->profile, source->event);
    }
    return changes;
}

static int changes_sample(void *state, const struct sample *sample, struct error *error)
{
    struct changes *changes = state;
    const struct output_source *source = &changes->source;
    int side = output_source_side(source, sample);
    double weight = (double)sample_weight(&changes->weight, sample);

    (void)error;
    if (changes->has_windows)
        function_changes_note(&changes->functions, source->profile, side, sample,
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

static void put_side(const struct changes *changes, int side, const char *label)
{
    const struct comparison_side *of = &changes->source.comparison->sides[side];
    char *name = utf8_clean_string(of->name);

    fprintf(changes->file, "  %s  %s: %s in %s samples, %.1f s%s\n", label, name,
            cell(changes, changes->functions.totals[side], "").text,
            number_text(changes->functions.samples[side]).text,
            (double)(of->to_ms - of->from_ms) / 1000,
            of->totals.cut ? " (the recording was cut)" : "");
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
    const struct output_source *source = &changes->source;
    const struct profile *profile = source->profile;
    struct buffer idle = {0};

    fprintf(changes->file, "%s, %s%s\n",
            profile_text(profile, profile_get_event(profile, source->event)->name),
            changes->weight.is_change ? "change of " : "", changes->weight.name);
    put_side(changes, 0, "before");
    put_side(changes, 1, "after ");
    fprintf(changes->file, "before is multiplied by %.4g, %s\n", scale,
            whys[source->comparison->per]);
    idle_text(source, totals, &idle);
    if (idle.size)
        fprintf(changes->file, "%.*s\n", (int)idle.size, idle.data);
    buffer_free(&idle);
}

static void put_row(const struct changes *changes, const struct function_change *function)
{
    bool is_self = changes->source.comparison->sort == SORT_SELF;
    const double *sides = is_self ? function->self : function->total;
    const double *others = is_self ? function->total : function->self;

    fprintf(changes->file, "%14s  %14s  %14s  %14s  %14s  %s\n", cell(changes, sides[0], "").text,
            cell(changes, sides[1], "").text, cell(changes, function->change, "+").text,
            cell(changes, function->noise, "").text, cell(changes, others[1] - others[0], "+").text,
            function->name);
}

/* Write the functions that have changed by more than chance explains. */
static void put_functions(const struct changes *changes, const struct function_change *list,
                          size_t count)
{
    bool is_self = changes->source.comparison->sort == SORT_SELF;
    size_t shown = 0, clear = 0;

    for (size_t i = 0; i < count; i++) {
        if (fabs(list[i].change) <= list[i].noise)
            continue;
        if (!clear++)
            fprintf(changes->file, "\n%14s  %14s  %14s  %14s  %14s\n", "before", "after", "change",
                    "noise", is_self ? "with callees" : "without callees");
        if (shown == SHOWN_MAX)
            continue;
        put_row(changes, &list[i]);
        shown++;
    }
    fputc('\n', changes->file);
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
    const struct output_source *source = &changes->source;
    const struct event_summary *summary = source->comparison->sides[side].summary;
    const struct function_changes *functions = &changes->functions;
    struct row_cover *cover = &options->covers[side];
    double seen;

    if (!summary || !changes->has_windows)
        return;
    *cover = rows_cover_by(source->profile, summary, source->event, changes->weight.value,
                           &functions->wholes[side], is_part);
    seen = cover->is_known && !is_part ? 1 - cover->unsampled : 0;
    if (summary->hits == 0 && summary->span_ns)
        seen = (double)summary->covered_ns / (double)summary->span_ns;
    options->represents[side] = seen > 0 ? 1 / seen : 0;
}

static int changes_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct changes *changes = state;
    struct function_change *list;
    size_t count;

    (void)error;
    if (totals) {
        const struct comparison *comparison = changes->source.comparison;
        struct change_options options = {
            .scale = comparison_scale(comparison, changes->functions.totals),
            .sort = comparison->sort,
            .by_share = comparison->per == PER_TOTAL,
        };

        for (int side = 0; side < 2; side++)
            set_cover(changes, side, totals->left_out > 0, &options);
        list =
            function_changes_list(&changes->functions, changes->source.profile, &options, &count);
        put_head(changes, totals, options.scale);
        put_functions(changes, list, count);
        free(list);
    }
    function_changes_free(&changes->functions);
    free(changes);
    return 0;
}

const struct output_format changes_format = {
    .name = "changes",
    .one_event = true,
    .begin = changes_begin,
    .sample = changes_sample,
    .finish = changes_finish,
};
