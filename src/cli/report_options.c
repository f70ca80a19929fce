// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"
#include "cli/pager.h"

#include <stdlib.h>
#include <string.h>

#include "cli/verbose.h"
#include "profile/events.h"
#include "util/alloc.h"

void report_options_free(struct report_options *options)
{
    free(options->paths);
    shared_options_free_output(&options->output);
}

void report_options_notes(struct buffer *text)
{
    buffer_text(text, "Events and their values:\n");
    events_text(text);
}

/* ---- what samples count ---- */

/* Add to the events that are selected. */
static int add_events(void *target, char *names, struct error *error)
{
    struct output_options *options = target;
    char *before = options->events;

    if (!names[0])
        return error_set(error, ERROR_USAGE, "-e needs the name of an event");
    options->events = xasprintf("%s%s%s", before ? before : "", before ? "," : "", names);
    options->settings.event = options->events;
    free(before);
    return 0;
}

static const struct command_option event_list[] = {
    {"event", 'e', "EVENT,...",
     "Show only these events of the recording, in every output. May be repeated. The default is "
     "every event.",
     add_events, NULL},
    {0},
};

static const struct command_option compared_event_list[] = {
    {"event", 'e', "NAME",
     "Compare this event only. By default, text compares all events that both recordings have, and "
     ".folded the first of them. A page has all.",
     option_set_text, NULL, offsetof(struct output_options, settings.event)},
    {0},
};

static const struct command_option weight_list[] = {
    {"weight", 0, "VALUE",
     "Weigh samples by this value: a value of their event (listed below; the default is the "
     "first), a metric of their process (reductions, msgq, heap, memory...), samples (1 each), "
     "cpu or wall (the time of that event).",
     option_set_text, NULL, offsetof(struct output_options, settings.value)},
    {"delta", 0, NULL,
     "Weigh by the change of the metric since the previous sample of the process. Growth and "
     "release get a root frame each.",
     option_set_true, NULL, offsetof(struct output_options, settings.change)},
    {0},
};

/* ---- report ---- */

const struct option_group report_option_groups[] = {
    {"What to write", output_option_list, offsetof(struct report_options, output)},
    {"", stats_option_list, offsetof(struct report_options, output)},
    {"", summary_option_list, offsetof(struct report_options, output)},
    {"", pager_option_list, offsetof(struct report_options, output.no_pager)},
    {"", memory_option_list, 0},
    {"What to show", event_list, offsetof(struct report_options, output)},
    {"", weight_list, offsetof(struct report_options, output)},
    {"How to show it", view_option_list, offsetof(struct report_options, output)},
    {"", label_option_list, offsetof(struct report_options, output)},
    {"Which samples to show", selection_option_list,
     offsetof(struct report_options, output.settings.selection)},
    {"", trace_option_list, offsetof(struct report_options, output.settings.selection)},
    {"Which time to show", time_option_list,
     offsetof(struct report_options, output.settings.selection)},
    VERBOSE_OPTION_GROUP,
    {0},
};

static int take_paths(struct report_options *options, char **paths, struct error *error)
{
    size_t inputs = 0;

    while (paths[options->path_count])
        inputs += !strcmp(paths[options->path_count++], "-");
    if (inputs > 1)
        return error_set(error, ERROR_USAGE, "standard input (-) can be read only once");
    options->paths = xcalloc(options->path_count + 1, sizeof(*options->paths));
    memcpy(options->paths, paths, options->path_count * sizeof(*paths));
    return 0;
}

int report_options_take_arguments(void *target, char **arguments, bool after_dashes,
                                  struct error *error)
{
    (void)after_dashes;
    if (!arguments[0])
        return error_set(error, ERROR_USAGE, "which recording? (beamflame report FILE -o OUT)");
    return take_paths(target, arguments, error);
}

int report_options_check(void *target, struct error *error)
{
    struct report_options *options = target;

    if (shared_options_check_selection(&options->output.settings.selection, error))
        return -1;
    return shared_options_check_output(&options->output, error);
}

/* ---- diff ---- */

static int set_normalize(void *target, char *name, struct error *error)
{
    return comparison_per_parse(name, &((struct diff_options *)target)->per, error);
}

static const char *normalizations(void)
{
    return "time, total, none";
}

static int set_sort(void *target, char *name, struct error *error)
{
    return comparison_sort_parse(name, &((struct diff_options *)target)->sort, error);
}

static const char *sorts(void)
{
    return "change, self, total";
}

static const struct command_option comparison_list[] = {
    {"normalize", 0, "WHAT",
     "Scale A before the comparison: to the duration of B (time, the default), to the total of B "
     "(total), or not (none).",
     set_normalize, normalizations},
    {"sort", 0, "ORDER",
     "Order the functions in text by the change of their weight with callees (change, the "
     "default), by the change without callees (self), or by their weight (total).",
     set_sort, sorts},
    {0},
};

const struct option_group diff_option_groups[] = {
    {"How to compare", comparison_list, 0},
    {"What to write", compared_output_option_list, offsetof(struct diff_options, report.output)},
    {"", stats_option_list, offsetof(struct diff_options, report.output)},
    {"", pager_option_list, offsetof(struct diff_options, report.output.no_pager)},
    {"", memory_option_list, 0},
    {"What to show", compared_event_list, offsetof(struct diff_options, report.output)},
    {"", weight_list, offsetof(struct diff_options, report.output)},
    {"How to show it", view_option_list, offsetof(struct diff_options, report.output)},
    {"Which samples to compare", selection_option_list,
     offsetof(struct diff_options, report.output.settings.selection)},
    VERBOSE_OPTION_GROUP,
    {0},
};

int report_options_take_diff(void *target, char **arguments, bool after_dashes, struct error *error)
{
    struct report_options *report = &((struct diff_options *)target)->report;

    (void)after_dashes;
    if (!arguments[0])
        return error_set(error, ERROR_USAGE, "which recordings? (beamflame diff A B -o OUT)");
    if (take_paths(report, arguments, error))
        return -1;
    if (report->path_count != 2)
        return error_set(error, ERROR_USAGE, "diff compares two recordings, not %zu",
                         report->path_count);
    return 0;
}

int report_options_check_diff(void *target, struct error *error)
{
    return report_options_check(&((struct diff_options *)target)->report, error);
}
