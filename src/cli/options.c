// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "cli/message.h"
#include "cli/output_argp.h"
#include "cli/selection_argp.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"

enum {
    OPTION_WEIGHT = 256,
    OPTION_DELTA,
    OPTION_NORMALIZE,
    OPTION_BUDGET,
    OPTION_LONG_SCHEDULE,
    OPTION_WALL_FREQUENCY,
    OPTION_CLOCK,
    OPTION_TOP,
    OPTION_LOOP,
    OPTION_KEEP,
    OPTION_FLUSH,
    OPTION_MAX_SIZE,
    OPTION_TRIGGER,
    OPTION_BEFORE,
    OPTION_AFTER,
    OPTION_HOLDOFF,
};

enum { BEFORE_MOST = 3600 }; /* seconds to keep in memory */

static const struct argp_child output_children[] = {
    {&output_argp, 0, NULL, 0},
    {&selection_argp, 0, "Only samples, in all outputs but what is recorded:", 20},
    {0},
};

void output_options_free(struct output_options *options)
{
    selection_options_free(&options->settings.selection);
}

void report_options_free(struct report_options *options)
{
    free(options->paths);
    output_options_free(&options->output);
}

bool record_makes_parts(const struct record_options *options)
{
    return options->loop > 0 || options->session.trigger_count;
}

void record_options_free(struct record_options *options)
{
    for (size_t i = 0; i < options->session.trigger_count; i++)
        trigger_free(&options->session.triggers[i]);
    output_options_free(&options->output);
}

/* Parse a whole number in [low, high]. Other text ends the program with a usage error. */
static long number(struct argp_state *state, const char *what, const char *text, long low,
                   long high)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        argp_error(state, "%s must be a whole number from %ld to %ld, not '%s'", what, low, high,
                   text);
    return value;
}

static double seconds(struct argp_state *state, const char *what, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value <= 0 || value > 1e9)
        argp_error(state, "%s must be a positive number of seconds, not '%s'", what, text);
    return value;
}

/* Parse a number of bytes: "100k". */
static uint64_t size(struct argp_state *state, const char *what, const char *text)
{
    static const char units[] = "kMG";
    char *end;
    long long value;
    const char *unit;
    int shift;

    errno = 0;
    value = strtoll(text, &end, 10);
    unit = *end && !end[1] ? strchr(units, *end) : NULL;
    shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || end == text || (*end && !unit) || value <= 0 || value > LLONG_MAX >> shift)
        argp_error(state, "%s must be a number of bytes, or with k, M or G behind it, not '%s'",
                   what, text);
    return (uint64_t)value << shift;
}

/* ---- record ---- */

static const struct argp_option record_option_list[] = {
    {"pid", 'p', "PID", 0, "Profile this Erlang VM; may be repeated", 1},
    {"all", 'a', 0, 0, "Profile every Erlang VM of the host", 1},
    {"duration", 'd', "SEC", 0, "Record for so long (default: until Ctrl-C)", 2},
    {"frequency", 'F', "HZ", 0, "Samples a second and CPU (default 99)", 2},
    {"clock", OPTION_CLOCK, "EVENT", 0,
     "What interrupts CPUs to take samples: cpu-clock (default), a timer of the kernel; or cycles "
     "and others, which need a PMU (docs/clocks.md)",
     2},
    {"event", 'e', "EVENT,...", 0,
     "What to record: cpu (default), wall, gc, alloc, sched, msg, bif:NAME, nif:NAME, probe:NAME, "
     "usdt:NAME; several, or repeated, for all at once",
     2},
    {"wall-frequency", OPTION_WALL_FREQUENCY, "HZ", 0,
     "Of event wall: sweeps over the processes a second (default 20)", 2},
    {"top", OPTION_TOP, "N[:METRIC[:SEC]]", 0,
     "Of event wall: only the N processes with the largest METRIC, chosen anew each SEC seconds "
     "(default +reductions, 10 seconds). METRIC: " TOP_METRICS,
     2},
    {"budget", OPTION_BUDGET, "PERCENT", 0,
     "Of the CPU time of the target, what its probes may cost (default 1)", 2},
    {"long-schedule", OPTION_LONG_SCHEDULE, "MS", 0,
     "Of event sched: list slices of so many milliseconds or more (default 10)", 2},
    {"loop", OPTION_LOOP, "SEC", 0,
     "Record in parts of so many seconds, without a gap: each -o FILE.SUFFIX is written as "
     "FILE-NODE-TIME.SUFFIX (UTC) when its part is over",
     3},
    {"keep", OPTION_KEEP, "N", 0, "Of the files of parts, keep the newest N of each output", 3},
    {"max-size", OPTION_MAX_SIZE, "BYTES", 0,
     "End the recording, or with --loop the part, when it has so many bytes (or 100k, 20M, 1G)", 3},
    {"flush", OPTION_FLUSH, "SEC", 0,
     "Write out what was recorded so often (default 1): what is lost if this is killed", 3},
    {"trigger", OPTION_TRIGGER, "CONDITION", 0,
     "Record only when this is so, each time into files of its own, as with --loop; may be "
     "repeated: any will do. CONDITION: cpu>PERCENT% (of the time of all schedulers), gc>PERCENT% "
     "(of the CPU time), memory>BYTES (resident; or k, M, G), runq>N, METRIC>N (of any process), "
     "process NAME METRIC>N (NAME as in --process), or exit (the node ends). METRIC: " TOP_METRICS,
     4},
    {"before", OPTION_BEFORE, "SEC", 0,
     "Record what was so many seconds before the trigger fires (default 10), too", 4},
    {"after", OPTION_AFTER, "SEC", 0, "And so many after it (default 10)", 4},
    {"holdoff", OPTION_HOLDOFF, "SEC", 0, "Fire at most once in so many seconds (default 60)", 4},
    {0},
};

struct record_parser {
    struct record_options *options;
    struct output_parser output;
};

static void add_pid(struct argp_state *state, struct record_options *options, const char *text)
{
    if (options->targets.pid_count == PIDS_MAX)
        argp_error(state, "at most %d processes", PIDS_MAX);
    options->targets.pids[options->targets.pid_count++] =
        (pid_t)number(state, "a process id", text, 1, 4194304); /* PID_MAX_LIMIT */
}

static void add_event(struct argp_state *state, struct record_options *options, const char *name)
{
    struct event_request request;
    struct error error;

    if (!strcmp(name, "cpu")) {
        options->session.cpu = true;
        return;
    }
    if (!strcmp(name, EVENT_WALL)) {
        options->session.wall = true;
        return;
    }
    if (event_request_parse(name, &request, &error))
        argp_error(state, "%s", error.text);
    for (int i = 0; i < options->session.event_count; i++)
        if (!strcmp(options->session.events[i].name, name))
            return;
    if (options->session.event_count == EVENTS_MAX)
        argp_error(state, "at most %d events", EVENTS_MAX);
    options->session.events[options->session.event_count++] = request;
}

static void add_events(struct argp_state *state, struct record_options *options, char *list)
{
    char *rest = NULL;

    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        add_event(state, options, name);
    if (!options->session.cpu && !options->session.wall && !options->session.event_count)
        argp_error(state, "-e needs an event; there are: cpu, wall, %s", event_kind_names());
}

static void set_clock(struct argp_state *state, struct record_options *options, const char *name)
{
    struct error error;
    const struct clock_event *clock = clock_event_find(name, &error);

    if (!clock) {
        argp_error(state, "%s", error.text);
        return;
    }
    options->session.clock = clock;
    if (clock->is_hardware && clock_under_hypervisor())
        message_warning("a hypervisor runs this machine: the interrupts of '%s' come late and are "
                        "slow there; cpu-clock, the default, has neither problem",
                        name);
}

static double percent(struct argp_state *state, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value <= 0 || value > 100)
        argp_error(state, "the budget must be a percentage above 0, at most 100, not '%s'", text);
    return value;
}

static void check_targets(struct argp_state *state, const struct record_options *options)
{
    if ((options->targets.pid_count > 0) + options->targets.all +
            (options->targets.command != NULL) >
        1)
        argp_error(state, "give -p, -a or a command, not more than one of them");
}

static void check_parts(struct argp_state *state, const struct record_options *options)
{
    if (options->keep && !record_makes_parts(options))
        argp_error(state, "--keep is for parts: it needs --loop or --trigger");
    if (options->loop && options->session.trigger_count)
        argp_error(state, "give --loop, which records all of the time, or --trigger, not both");
}

/* Negative seconds mean that the option is not given. */
static void check_triggers(struct argp_state *state, struct record_options *options)
{
    double *const seconds[] = {&options->before, &options->after, &options->holdoff};
    static const double defaults[] = {10, 10, 60};

    for (int i = 0; i < 3; i++) {
        if (*seconds[i] >= 0 && !options->session.trigger_count)
            argp_error(state, "--before, --after and --holdoff are for --trigger");
        if (*seconds[i] < 0)
            *seconds[i] = defaults[i];
    }
}

static void add_trigger(struct argp_state *state, struct record_options *options, const char *text)
{
    struct error error;

    if (options->session.trigger_count == TRIGGERS_MAX)
        argp_error(state, "at most %d triggers", TRIGGERS_MAX);
    if (trigger_parse(text, &options->session.triggers[options->session.trigger_count], &error))
        argp_error(state, "%s", error.text);
    options->session.trigger_count++;
}

static void add_top(struct argp_state *state, struct record_options *options, char *text)
{
    struct error error;

    if (top_option_parse(text, &options->session.top, &error))
        argp_error(state, "%s", error.text);
}

static double seconds_or_none(struct argp_state *state, const char *what, const char *text)
{
    return !strcmp(text, "0") ? 0 : seconds(state, what, text);
}

static error_t parse_record_option(int key, char *arg, struct argp_state *state)
{
    struct record_parser *parser = state->input;
    struct record_options *options = parser->options;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &parser->output;
        state->child_inputs[1] = &parser->options->output.settings.selection;
        return 0;
    case 'p':
        add_pid(state, options, arg);
        return 0;
    case 'a':
        options->targets.all = true;
        return 0;
    case 'd':
        options->duration = seconds(state, "the duration", arg);
        return 0;
    case OPTION_LOOP:
        options->loop = seconds(state, "the time of a part", arg);
        if (options->loop < 1)
            argp_error(state, "a part must have 1 second or more, not '%s'", arg);
        return 0;
    case OPTION_KEEP:
        options->keep = (size_t)number(state, "the files to keep", arg, 1, 1000000);
        return 0;
    case OPTION_MAX_SIZE:
        options->max_size = size(state, "the size of a recording", arg);
        return 0;
    case OPTION_FLUSH:
        options->session.flush_ns =
            (uint64_t)(seconds(state, "the time between flushes", arg) * 1e9);
        return 0;
    case OPTION_TRIGGER:
        add_trigger(state, options, arg);
        return 0;
    case OPTION_BEFORE:
        options->before = seconds_or_none(state, "the time before a trigger", arg);
        if (options->before > BEFORE_MOST)
            argp_error(state, "--before must be %d seconds or less", BEFORE_MOST);
        return 0;
    case OPTION_AFTER:
        options->after = seconds_or_none(state, "the time after a trigger", arg);
        return 0;
    case OPTION_HOLDOFF:
        options->holdoff = seconds_or_none(state, "the time between triggers", arg);
        return 0;
    case 'F':
        options->session.frequency = (uint32_t)number(state, "the frequency", arg, 1, 50000);
        return 0;
    case OPTION_CLOCK:
        set_clock(state, options, arg);
        return 0;
    case 'e':
        add_events(state, options, arg);
        return 0;
    case OPTION_WALL_FREQUENCY:
        options->session.wall_frequency = (uint32_t)number(state, "the frequency", arg, 1, 1000);
        return 0;
    case OPTION_TOP:
        add_top(state, options, arg);
        return 0;
    case OPTION_BUDGET:
        options->session.budget = percent(state, arg) / 100;
        return 0;
    case OPTION_LONG_SCHEDULE:
        options->session.long_us =
            1000 * (uint32_t)number(state, "a long schedule", arg, 1, 1000000);
        return 0;
    case ARGP_KEY_ARG:
        if (!state->quoted) /* not after "--" */
            argp_error(state, "'%s' is not understood (a command to start goes behind --)", arg);
        options->targets.command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check_targets(state, options);
        check_parts(state, options);
        check_triggers(state, options);
        if (options->session.top.count && !options->session.wall)
            argp_error(state, "--top is for event wall (-e wall)");
        options->session.cpu |= !options->session.event_count && !options->session.wall;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void parse_record_options(int argc, char **argv, struct record_options *options)
{
    static const struct argp argp = {
        .options = record_option_list,
        .parser = parse_record_option,
        .args_doc = "[-- COMMAND [ARG...]]",
        .doc = "Profile Erlang VMs from outside: nothing is loaded into them, nothing restarted."
               "\vCommands: record (default), report FILE, diff A B, ps, probes. See beamflame "
               "COMMAND --help.",
        .children = output_children,
    };
    struct record_parser parser = {.options = options, .output.options = &options->output};

    *options = (struct record_options){.targets.warn = message_warning,
                                       .session = {.clock = clock_event_default(),
                                                   .frequency = 99,
                                                   .wall_frequency = 20,
                                                   .budget = 0.01,
                                                   .long_us = 10000,
                                                   .flush_ns = 1000000000,
                                                   .warn = message_warning},
                                       .before = -1,
                                       .after = -1,
                                       .holdoff = -1,
                                       .output.settings.view.grouping = {{GROUP_NAME}}};
    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &parser);
}

/* ---- report ---- */

static const struct argp_option report_option_list[] = {
    {"event", 'e', "NAME", 0,
     "Only this event, of those in the recording (default: each; of a comparison the first that "
     "both have)",
     1},
    {"weight", OPTION_WEIGHT, "VALUE", 0,
     "What samples count, of the values of their event (below; default: the first), or a metric of "
     "their process: reductions, msgq, mbuf, heap, stack, memory, bin_vheap...; or 1 each: "
     "samples; "
     "or the time of event cpu or wall, without others: cpu, wall",
     1},
    {"delta", OPTION_DELTA, 0, 0,
     "With a metric for --weight: its change since the process' sample before, growth and release "
     "apart",
     1},
    {0},
};

struct report_parser {
    struct report_options *options;
    size_t path_room;
    struct output_parser output;
};

static void add_path(struct argp_state *state, struct report_parser *parser, const char *path)
{
    struct report_options *options = parser->options;

    for (size_t i = 0; i < options->path_count; i++)
        if (!strcmp(path, "-") && !strcmp(options->paths[i], "-"))
            argp_error(state, "standard input (-) can be read once only");
    options->paths =
        xgrow(options->paths, &parser->path_room, options->path_count, sizeof(*options->paths));
    options->paths[options->path_count++] = path;
}

static error_t parse_report_option(int key, char *arg, struct argp_state *state)
{
    struct report_parser *parser = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &parser->output;
        state->child_inputs[1] = &parser->options->output.settings.selection;
        return 0;
    case 'e':
        parser->options->output.settings.event = arg;
        return 0;
    case OPTION_WEIGHT:
        parser->options->output.settings.value = arg;
        return 0;
    case OPTION_DELTA:
        parser->options->output.settings.change = true;
        return 0;
    case ARGP_KEY_ARG:
        add_path(state, parser, arg);
        return 0;
    case ARGP_KEY_END:
        if (!parser->options->path_count)
            argp_error(state, "which recording? (beamflame report FILE -o OUT)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Add the list of values to the help, below the options. */
static char *add_values(int key, const char *text, void *input)
{
    struct buffer list = {0};
    char *result;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    buffer_text(&list, "Events and their values:\n");
    event_kinds_text(&list);
    result = xasprintf("%.*s", (int)list.size - 1, list.data); /* argp itself ends the line */
    buffer_free(&list);
    return result;
}

void parse_report_options(int argc, char **argv, struct report_options *options)
{
    static const struct argp argp = {
        .options = report_option_list,
        .parser = parse_report_option,
        .args_doc = "FILE...",
        .doc = "Make other formats from a recording (.bfr), perf-script text (.perf, or what perf "
               "script prints) or folded stacks, also packed by gzip; without -o, print a summary. "
               "- is standard input. Several files are put together, each sample when it was.",
        .children = output_children,
        .help_filter = add_values,
    };
    struct report_parser parser = {.options = options, .output.options = &options->output};

    *options = (struct report_options){.output.settings.view.grouping = {{GROUP_NAME}}};
    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &parser);
}

/* ---- diff ---- */

static const struct argp_option diff_option_list[] = {
    {"normalize", OPTION_NORMALIZE, "WHAT", 0,
     "Multiply what A has so that both are of as much time (time, the default), or so that both "
     "totals are equal (total), or not at all (none)",
     1},
    {0},
};

struct diff_parser {
    struct diff_options *options;
    struct report_parser report;
};

static error_t parse_diff_option(int key, char *arg, struct argp_state *state)
{
    struct diff_parser *parser = state->input;
    const struct report_options *report = &parser->options->report;
    const struct selection_options *selection = &report->output.settings.selection;
    struct error error;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &parser->report;
        return 0;
    case OPTION_NORMALIZE:
        if (comparison_per_parse(arg, &parser->options->per, &error))
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        add_path(state, &parser->report, arg);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which recordings? (beamflame diff A B -o OUT)");
        return 0;
    case ARGP_KEY_END:
        if (report->path_count != 2)
            argp_error(state, "two recordings are compared, not %zu", report->path_count);
        if (selection->from_ns || selection->has_end)
            argp_error(state, "--from and --to are of one recording; report makes a part of each");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void parse_diff_options(int argc, char **argv, struct diff_options *options)
{
    static const struct argp report_argp = {
        .options = report_option_list,
        .parser = parse_report_option,
        .children = output_children,
    };
    static const struct argp_child children[] = {{&report_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = diff_option_list,
        .parser = parse_diff_option,
        .args_doc = "A B",
        .doc = "Tell what recording B has more or less of than A, as text, or as a page (.html), "
               "text (.txt) or folded stacks with two weights (.folded) with -o. Both may be "
               "anything that report reads.",
        .children = children,
        .help_filter = add_values,
    };
    struct diff_parser parser = {.options = options};

    parser.report.options = &options->report;
    parser.report.output.options = &options->report.output;
    *options = (struct diff_options){
        .report.output = {.settings.view.grouping = {{GROUP_NAME}}, .compares = true},
    };
    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &parser);
}
