// SPDX-License-Identifier: Apache-2.0
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/formats.h"
#include "output/changes/changes.h"
#include "output/one_output.h"
#include "output/weight.h"
#include "profile/events.h"
#include "profile/limits.h"
#include "profile/row_interval.h"
#include "profile/value_scales.h"
#include "util/alloc.h"
#include "view/selection.h"

struct outputs {
    const struct output_settings *settings;
    const struct output_request *requests;
    size_t request_count;
    struct output_source source;
    struct event_choice events;
    bool planned;
    struct one_output *list;
    size_t count;
    size_t *first_of;      /* by target: its first output in the list, from 1; 0: none */
    target_id last_target; /* the highest index of `first_of` */
    struct selection *selection;
    uint64_t samples;      /* selected ones of the selected events */
    struct sample last[2]; /* of event sched, by whether it was selected */
    uint64_t unknown;      /* of those, without the metric of the weight */
    bool is_metric;        /* the weight is a metric, or its change */
    enum metric metric;
    struct metric_changes *changes; /* of `metric`; NULL: the weight is no change */
    int side;                       /* of the newest sample in a comparison */
    uint64_t left_out;              /* samples of the selected events that are not selected */
    uint64_t of_other_events;       /* samples */
    struct recording_idle idle;     /* of them, in event wall */
    struct error given;             /* of a request with a file; code 0: none */
};

static int add(struct outputs *outputs, const struct output_request *request, event_id event,
               char *path, struct error *error)
{
    struct one_output *output;

    outputs->list = xreallocarray(outputs->list, outputs->count + 1, sizeof(*outputs->list));
    output = &outputs->list[outputs->count++];
    *output = (struct one_output){.format = output_check_format(request),
                                  .request = request,
                                  .path = path,
                                  .source = outputs->source};
    output->source.event = event;
    output->source.target = request->target;
    output->source.piece = request->piece;
    for (size_t i = 0; !request->file && i < outputs->count - 1; i++)
        if (!outputs->list[i].request->file && !strcmp(outputs->list[i].path, path))
            return error_set(error, ERROR_USAGE, "%s: two outputs have this name", path);
    if (!output->format->one_event)
        return one_output_begin(output, error);
    output->weight = weight_of_event(&output->source, event);
    return 0;
}

static int add_split(struct outputs *outputs, const struct output_request *request,
                     struct error *error)
{
    const struct profile *profile = outputs->source.profile;

    if (output_check_split(request, error))
        return -1;
    for (event_id id = 1; id <= profile_counts(profile).events; id++) {
        const char *name = profile_text(profile, profile_get_event(profile, id)->name);

        if (!output_source_selects(&outputs->source, id))
            continue;
        if (add(outputs, request, id,
                output_file_split_path(request->path, output_check_format(request), name), error))
            return -1;
    }
    return 0;
}

/* Link the outputs of each target: there can be some for each of hundreds of VMs. */
static void link_by_target(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->list[i].source.target > outputs->last_target)
            outputs->last_target = outputs->list[i].source.target;
    outputs->first_of = xcalloc((size_t)outputs->last_target + 1, sizeof(*outputs->first_of));
    for (size_t i = outputs->count; i-- > 0;) {
        size_t *first = &outputs->first_of[outputs->list[i].source.target];

        outputs->list[i].next = *first;
        *first = i + 1;
    }
}

/* Make the outputs. Called when the events are known: at the first sample, or at the end. */
static int plan(struct outputs *outputs, struct error *error)
{
    const struct output_settings *settings = outputs->settings;
    struct output_source *source = &outputs->source;

    outputs->planned = true;
    if (event_choice_make(&outputs->events, source->profile,
                          settings->comparison ? NULL : settings->event, error) ||
        weight_select_all(source->profile, &outputs->events, settings, &source->event, error))
        return -1;
    outputs->is_metric = settings->value && metric_find(settings->value, &outputs->metric);
    if (!source->keeps_idle && !outputs->is_metric)
        source->idle_event = event_find(source->profile, EVENT_WALL);
    if (settings->change)
        outputs->changes = metric_changes_new(source->profile, outputs->metric);
    for (size_t i = 0; i < outputs->request_count; i++) {
        const struct output_request *request = &outputs->requests[i];
        bool one = output_check_format(request)->one_event;
        bool split = one && !source->event && !request->event && outputs->events.count > 1;
        event_id event = one && !source->event ? outputs->events.first : source->event;

        if (request->event)
            event = request->event;
        if (split ? add_split(outputs, request, error)
                  : add(outputs, request, event, xstrdup(request->path), error))
            return -1;
    }
    link_by_target(outputs);
    return 0;
}

/* Set the change of the metric. Side 1 of a comparison begins without previous values: the time
 * between the recordings has no change. */
static void apply_changes(struct outputs *outputs, const struct sample *sample,
                          struct sample *ret_counted)
{
    const struct output_source *source = &outputs->source;
    int side = output_source_side(source, sample);

    if (side != outputs->side) {
        metric_changes_free(outputs->changes);
        outputs->changes = metric_changes_new(source->profile, outputs->metric);
    }
    outputs->side = side;
    metric_changes_apply(outputs->changes, sample, ret_counted);
}

/* Check that the outputs are in proportion to the recording: a few bytes of it can be gigabytes of
 * stacks. */
static int check_amount(const struct outputs *outputs, struct error *error)
{
    uint64_t bytes;

    if (!view_is_exhausted(outputs->source.view))
        return 0;
    bytes = recording_reader_offset(outputs->source.recording);
    return error_set(error, ERROR_FAILED,
                     "the outputs would have more than %" PRIu64 " MB of stacks, from %" PRIu64
                     " bytes of recording: select less, or choose --format bfr or html",
                     limits_output(bytes) >> 20, bytes);
}

/* Count a selected sample of the selected events. */
static void count_asked(struct outputs *outputs, const struct sample *sample)
{
    outputs->samples += !sample->is_part;
    idle_count(&outputs->source, sample, &outputs->idle);
    outputs->unknown += outputs->is_metric && sample->process && !sample->is_part &&
                        !metrics_know(&sample->metrics, outputs->metric);
}

/* Pass a sample to the outputs of a target; 0: to those of all targets. */
static int pass_to(struct outputs *outputs, target_id target, const struct sample *sample,
                   const struct sample *counted, struct error *error)
{
    size_t at = target <= outputs->last_target ? outputs->first_of[target] : 0;

    for (; at; at = outputs->list[at - 1].next)
        if (one_output_pass(&outputs->list[at - 1], sample, counted, error))
            return -1;
    return 0;
}

static int each_sample(void *context, const struct sample *sample, struct error *error)
{
    struct outputs *outputs = context;
    struct sample whole = *sample, counted; /* with the change */
    bool is_asked, is_selected;
    target_id target;

    if (!outputs->planned && plan(outputs, error))
        return -1;
    view_allow(outputs->source.view,
               limits_output(recording_reader_offset(outputs->source.recording)));
    counted = whole;
    if (outputs->changes)
        apply_changes(outputs, sample, &counted);
    view_note_memory(outputs->source.view, sample);
    if (!output_source_selects(&outputs->source, sample->event)) {
        outputs->of_other_events++;
        return 0;
    }
    is_asked = output_source_shows(&outputs->source, sample->event);
    is_selected = selection_wants(outputs->selection, &counted);
    whole.is_part =
        row_interval_continues_hit(&outputs->last[is_selected], outputs->source.profile, sample);
    counted.is_part = whole.is_part;
    if (!is_selected) {
        outputs->left_out += is_asked && !whole.is_part;
        return 0;
    }
    if (is_asked)
        count_asked(outputs, &counted);
    target = value_scales_target(outputs->source.profile, sample);
    if (pass_to(outputs, 0, &whole, &counted, error) ||
        (target && pass_to(outputs, target, &whole, &counted, error)))
        return -1;
    return check_amount(outputs, error);
}

static bool any_begun(const struct outputs *outputs, const struct output_request *request)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->list[i].request == request && outputs->list[i].begun)
            return true;
    return false;
}

/* Return the first output of a request whose event can have peers; NULL if there is none. */
static struct one_output *first_of_peers(const struct outputs *outputs,
                                         const struct output_request *request)
{
    const struct profile *profile = outputs->source.profile;

    for (size_t i = 0; i < outputs->count; i++) {
        struct one_output *output = &outputs->list[i];
        const struct event_entry *of = profile_get_event(profile, output->source.event);

        if (output->request == request && of && event_has_peers(profile_text(profile, of->name)))
            return output;
    }
    return NULL;
}

/* Begin a graph for each request whose samples have no peers: an empty graph is a result too. */
static int begin_empty_graphs(const struct outputs *outputs, struct error *error)
{
    for (size_t i = 0; i < outputs->request_count; i++) {
        const struct output_request *request = &outputs->requests[i];
        struct one_output *output;

        if (!output_check_format(request)->of_peers || any_begun(outputs, request))
            continue;
        output = first_of_peers(outputs, request);
        if (!output)
            return output_check_peers(request->path, ERROR_NO_SAMPLES, error);
        if (one_output_begin(output, error))
            return -1;
    }
    return 0;
}

/* Begin the graphs of event wall whose processes were all idle: they say so. */
static int begin_idle_graphs(const struct outputs *outputs, struct error *error)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->list[i].leaves_out && !outputs->list[i].begun &&
            !outputs->list[i].request->needs_sample && one_output_begin(&outputs->list[i], error))
            return -1;
    return 0;
}

/* True if hits of the selected events were counted, or if metrics of VMs were recorded: outputs
 * show both even without a sample. */
static bool is_counted(const struct outputs *outputs)
{
    if (!outputs->events.has && recording_get_node_metrics(outputs->source.recording)->readings)
        return true;
    for (event_id id = 1; id <= profile_counts(outputs->source.profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(outputs->source.recording, id);

        if (summary && summary->hits && output_source_shows(&outputs->source, id))
            return true;
    }
    return false;
}

static int check_not_empty(const struct outputs *outputs, struct error *error)
{
    if (outputs->samples || (!outputs->left_out && is_counted(outputs)))
        return 0;
    if (outputs->left_out)
        return suggestion_nothing_selected(&outputs->settings->selection, outputs->source.profile,
                                           outputs->left_out, "samples", error);
    return error_set(error, ERROR_NO_SAMPLES, "the recording holds no samples%s%s",
                     outputs->events.has ? " of event " : "",
                     outputs->events.has ? outputs->settings->event : "");
}

/* Let the format write the rest. The state is freed. */
static int finish_format(struct one_output *output, const struct recording_totals *totals,
                         struct error *error)
{
    void *state = output->state;

    output->state = NULL;
    if (output->format->finish(state, totals, error))
        return output_file_prefix(output->path, error);
    return 0;
}

/* Complete one output. The caller's file may be a terminal or a pipe that is gone: its error does
 * not lose the other outputs. */
static int finish_one(struct outputs *outputs, struct one_output *output,
                      const struct recording_totals *totals, struct error *error)
{
    if (!output->begun || (!finish_format(output, totals, error) && !check_amount(outputs, error) &&
                           !output_file_close(&output->file, error)))
        return 0;
    if (!output->request->file)
        return -1;
    outputs->given = *error;
    return 0;
}

static int finish(struct outputs *outputs, const struct recording_totals *totals,
                  struct error *error)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (finish_one(outputs, &outputs->list[i], totals, error))
            return -1;
    for (size_t i = 0; i < outputs->count; i++)
        if (output_file_publish(&outputs->list[i].file, error))
            return -1;
    return 0;
}

static void release(struct outputs *outputs)
{
    struct error ignored;

    for (size_t i = 0; i < outputs->count; i++) {
        struct one_output *output = &outputs->list[i];

        if (output->state)
            output->format->finish(output->state, NULL, &ignored);
        output_file_release(&output->file);
        free(output->path);
    }
    free(outputs->list);
    free(outputs->first_of);
}

static int write_all(struct recording *recording, struct profile *profile, struct outputs *outputs,
                     struct error *error)
{
    struct recording_totals totals;
    bool cut; /* not used: the totals have it too */

    if (recording_read(recording, profile, each_sample, outputs, &cut, error) ||
        check_not_empty(outputs, error) || (!outputs->planned && plan(outputs, error)) ||
        check_not_empty(outputs, error) || begin_empty_graphs(outputs, error) ||
        begin_idle_graphs(outputs, error))
        return -1;
    totals = *recording_get_totals(recording);
    totals.left_out += outputs->left_out;
    totals.unknown = outputs->unknown;
    totals.of_other_events = outputs->of_other_events;
    totals.idle = outputs->idle;
    return finish(outputs, &totals, error);
}

static void take_result(const struct recording *recording, const struct outputs *outputs,
                        struct output_result *ret_result)
{
    struct output_result result = {
        .given = outputs->given,
        .totals = *recording_get_totals(recording),
        .paths = xcalloc(outputs->count, sizeof(char *)),
        .empty = xcalloc(outputs->request_count, sizeof(struct output_empty)),
    };
    struct number_text total = {0};
    struct buffer unmatched = {0};

    suggestion_find_names(&outputs->settings->selection, outputs->source.profile, &unmatched);
    buffer_byte(&unmatched, '\0');
    result.unmatched = (char *)unmatched.data;
    if (!outputs->left_out)
        total = output_source_total(&outputs->source);
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->list[i].begun && !outputs->list[i].request->file)
            result.paths[result.path_count++] = xstrdup(outputs->list[i].path);
    for (size_t i = 0; i < outputs->request_count; i++)
        if (!any_begun(outputs, &outputs->requests[i]))
            result.empty[result.empty_count++] =
                (struct output_empty){&outputs->requests[i], total};
    *ret_result = result;
}

void output_result_free(struct output_result *result)
{
    for (size_t i = 0; i < result->path_count; i++)
        free(result->paths[i]);
    free(result->paths);
    free(result->empty);
    free(result->unmatched);
}

static struct view *new_view(const struct profile *profile, const struct output_settings *settings)
{
    struct view_options options = settings->view;

    /* A VM that was restarted is another target, but is compared as the same node. */
    options.one_node = settings->comparison != NULL;
    if (settings->change)
        grouping_add_change(&options.grouping);
    return view_new(profile, &options);
}

int output_write(struct recording *recording, const struct output_settings *settings,
                 const struct output_request *requests, size_t count,
                 struct output_result *ret_result, struct error *error)
{
    struct profile *profile = profile_new();
    struct view *view = new_view(profile, settings);
    struct outputs outputs = {
        .settings = settings,
        .requests = requests,
        .request_count = count,
        .source =
            {
                .recording = recording,
                .header = recording_get_header(recording),
                .profile = profile,
                .view = view,
                .value = settings->value,
                .change = settings->change,
                .no_labels = settings->no_labels,
                .no_traces = settings->no_traces,
                .timestamps = settings->timestamps,
                .path = settings->path,
                .keeps_idle = settings->idle || settings->selection.statuses,
                .selection = &settings->selection,
                .comparison = settings->comparison,
                .prof = settings->prof,
            },
    };
    int result = output_check(requests, count, 1, true, error);

    outputs.source.events = &outputs.events;
    outputs.selection =
        selection_new(&settings->selection, profile, view, outputs.source.header->start_monotonic);
    if (!result)
        result = write_all(recording, profile, &outputs, error);
    if (!result)
        take_result(recording, &outputs, ret_result);
    selection_log(outputs.selection, "samples");
    release(&outputs);
    metric_changes_free(outputs.changes);
    selection_free(outputs.selection);
    event_choice_free(&outputs.events);
    view_free(view);
    profile_free(profile);
    return result;
}
