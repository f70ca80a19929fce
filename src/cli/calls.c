// SPDX-License-Identifier: Apache-2.0
/* `beamflame calls`: counts calls of Erlang functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/call_run.h"
#include "calls/call_steering.h"
#include "cli/calls_print.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/verbose.h"
#include "os/child.h"
#include "os/control_socket.h"
#include "os/privileges.h"
#include "session/targets.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/quantity.h"

enum { TOP = 10, TOP_OF_MANY = 2, ROWS_MAX = 1000000 };

struct calls_options {
    struct target_options target; /* the VM */
    pid_t pid;                    /* of -p */
    struct function_name names[WIRE_CALL_FUNCTIONS];
    size_t name_count;
    double duration; /* s; 0: until Ctrl-C */
    double budget;   /* share of the VM's CPU time */
    size_t top;      /* SIZE_MAX: not given */
    bool json, latency, memory, split;
    uint64_t slow_ns;         /* 0: not given */
    uint32_t argument_levels; /* 0: not given */
    bool shapes_only;
    struct match_pattern *patterns[WIRE_CALL_FUNCTIONS]; /* of --match, one a function */
    size_t pattern_count;
    bool wait_load, dry_run;
    const char *command_line;
};

/* ---- options ---- */

/* The last one counts. */
static int set_pid(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;

    options->target.pids = &options->pid;
    options->target.pid_count = 1;
    return option_pid(text, &options->pid, error);
}

static int set_duration(void *target, char *text, struct error *error)
{
    return option_seconds("the duration", text, &((struct calls_options *)target)->duration, error);
}

static int set_budget(void *target, char *text, struct error *error)
{
    double percent;

    if (option_percent("the budget", text, &percent, error))
        return -1;
    ((struct calls_options *)target)->budget = percent / 100;
    return 0;
}

static int set_slow(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;

    if (!quantity_time(text, &options->slow_ns))
        return error_set(error, ERROR_USAGE,
                         "the time of slow calls must be a time, such as 50ms, 300us or 2s, not "
                         "'%s'",
                         text);
    options->latency = true;
    return 0;
}

static int set_memory(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;

    (void)text;
    (void)error;
    options->memory = options->latency = true;
    return 0;
}

static int set_split(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;

    (void)text;
    (void)error;
    options->split = options->latency = true;
    return 0;
}

/* Shapes are shown to this depth. */
enum { SHAPE_LEVELS = 3 };

static int set_arguments(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;
    long levels = SHAPE_LEVELS;

    options->shapes_only = !strcmp(text, "sizes");
    if (!options->shapes_only &&
        option_number("the depth of arguments", text, 1, WIRE_ARGUMENT_LEVELS, &levels, error))
        return -1;
    options->argument_levels = (uint32_t)levels;
    return 0;
}

/* Add a function to count. */
static int add_name(struct calls_options *options, const struct function_name *name,
                    struct error *error)
{
    if (options->name_count == WIRE_CALL_FUNCTIONS)
        return error_set(error, ERROR_USAGE, "at most %d functions can be counted at once",
                         WIRE_CALL_FUNCTIONS);
    options->names[options->name_count++] = *name;
    return 0;
}

static int set_match(void *target, char *text, struct error *error)
{
    struct calls_options *options = target;
    struct match_pattern *pattern = xcalloc(1, sizeof(*pattern));

    if (match_pattern_parse(text, pattern, error) || add_name(options, &pattern->name, error)) {
        free(pattern);
        return -1;
    }
    options->patterns[options->pattern_count++] = pattern;
    return 0;
}

static int set_top(void *target, char *text, struct error *error)
{
    long value;

    if (option_number("the number of callers", text, 0, ROWS_MAX, &value, error))
        return -1;
    ((struct calls_options *)target)->top = (size_t)value;
    return 0;
}

static const struct command_option option_list[] = {
    {"pid", 'p', "PID",
     "Count in the VM with this process id. The default is the only VM of the host.", set_pid,
     NULL},
    {"duration", 'd', "SEC", "Stop after this many seconds. Without -d, stop at Ctrl-C.",
     set_duration, NULL},
    {"budget", 0, "PERCENT",
     "Count at random times if all calls would cost more than this share of the VM's CPU time. The "
     "default is 1; 100 counts each call.",
     set_budget, NULL},
    {"latency", 'l', NULL,
     "Measure how long calls take, until they return, as shares of calls: functions are counted "
     "one "
     "at a time, and up to three callers of it are followed at once.",
     option_set_true, NULL, offsetof(struct calls_options, latency)},
    {"slow", 0, "TIME",
     "List the slowest calls that take at least this time (50ms, 300us, 2s): process, time, and "
     "the "
     "stack of the caller. Measures latency, too.",
     set_slow, NULL},
    {"split", 0, NULL,
     "Measure what the time of calls is made of: running, and garbage collections in it; without a "
     "CPU; in run queues; waiting. Measures latency, too. Probes in the VM's code, as those of "
     "events, have hits of all processes.",
     set_split, NULL},
    {"memory", 'm', NULL,
     "Measure how many words calls allocate until they return, with those of the functions they "
     "call. Measures latency, too.",
     set_memory, NULL},
    {"args", 0, "DEPTH",
     "Count calls by their arguments, too, and list those of slow calls. DEPTH is the number of "
     "levels of tuples, lists and maps that are shown, 1 to 8; `sizes` shows types and sizes "
     "without contents.",
     set_arguments, NULL},
    {"match", 0, "PATTERN",
     "Count only the calls of a function whose arguments match: 'm:f({ok, _}, #{id := 42}, Name)'. "
     "`_` and variables are any term; a variable occurs once. The kernel compares atoms, numbers, "
     "pids, tuples, lists, maps, and binaries or how they begin. Can be given for several "
     "functions.",
     set_match, NULL},
    {"top", 't', "N",
     "List the N callers, processes and arguments with the most calls of each function, and the N "
     "slowest calls. The default is 10; 2 of each for more than 4 functions.",
     set_top, NULL},
    {"wait-load", 0, NULL, "Wait until the VM has loaded the modules, and count from then on.",
     option_set_true, NULL, offsetof(struct calls_options, wait_load)},
    {"dry-run", 0, NULL, "List the functions that would be counted, and end.", option_set_true,
     NULL, offsetof(struct calls_options, dry_run)},
    {"json", 'j', NULL, "Print one JSON object, with all callers and processes.", option_set_true,
     NULL, offsetof(struct calls_options, json)},
    {0},
};

static int take_arguments(void *target, char **arguments, bool after_dashes, struct error *error)
{
    struct calls_options *options = target;

    (void)after_dashes;
    for (; *arguments; arguments++) {
        struct function_name name;

        if (function_name_parse(*arguments, &name, error) || add_name(options, &name, error))
            return -1;
    }
    return 0;
}

static int check(void *target, struct error *error)
{
    const struct calls_options *options = target;

    if (options->name_count)
        return 0;
    return error_set(error, ERROR_USAGE, "name the functions to count: lists:map/2");
}

/* ---- counting ---- */

static int print_functions(const struct call_functions *functions, struct error *error)
{
    for (size_t i = 0; i < functions->count; i++)
        message_print("%s", functions->of[i].symbol);
    return message_end("the functions", error);
}

static void say_start(const struct calls_options *options, const struct call_functions *functions,
                      pid_t pid)
{
    size_t at_once = options->latency ? 1 : WIRE_CALL_AT_ONCE;
    struct buffer text = {0};

    for (size_t i = 0; i < functions->count && functions->count <= at_once; i++)
        buffer_format(&text, "%s%s", i ? ", " : "", functions->of[i].symbol);
    if (functions->count > at_once)
        buffer_format(&text, "%zu functions, %zu at a time,", functions->count, at_once);
    buffer_format(&text, " in process %d", (int)pid);
    if (options->duration > 0)
        buffer_format(&text, " for %g s", options->duration);
    else
        buffer_text(&text, " until Ctrl-C");
    message_say("counting calls of %.*s", (int)text.size, text.data);
    buffer_free(&text);
}

static size_t top_of(const struct calls_options *options, size_t functions)
{
    if (options->top != SIZE_MAX)
        return options->top;
    return functions > WIRE_CALL_AT_ONCE ? TOP_OF_MANY : TOP;
}

static void print_tables(const struct call_report *report, const struct call_facts *facts,
                         const struct calls_options *options)
{
    calls_print_table(report, facts, top_of(options, report->count));
    if (report->lists_slow)
        calls_print_slow(report, top_of(options, 1));
}

static int print(const struct call_watch *watch, const struct call_facts *facts,
                 const struct calls_options *options, struct error *error)
{
    struct call_report report;
    int result;

    call_watch_report(watch, &report);
    if (options->json)
        calls_print_json(&report, facts);
    else
        print_tables(&report, facts, options);
    result = message_end("the counts", error);
    if (!result)
        calls_say(&report, facts, options->budget, options->slow_ns);
    call_report_free(&report);
    return result;
}

static int find_functions(const struct calls_options *options, struct call_watch *watch,
                          struct error *error)
{
    const char *missing = call_watch_missing(watch, options->names, options->name_count);

    if (missing && options->wait_load) {
        message_say("waiting until the VM has loaded module '%s'", missing);
        if (call_watch_await(watch, options->names, options->name_count, error))
            return -1;
    }
    return call_watch_find(watch, options->names, options->name_count, error);
}

static int start(const struct calls_options *options, struct call_watch *watch,
                 struct call_steering *steering, struct error *error)
{
    return call_watch_start(watch,
                            &(struct call_watch_options){
                                .budget = options->budget,
                                .times = options->latency,
                                .words = options->memory,
                                .splits = options->split,
                                .slow_ns = options->slow_ns,
                                .argument_levels = options->argument_levels,
                                .shapes_only = options->shapes_only,
                                .patterns = (const struct match_pattern *const *)options->patterns,
                                .pattern_count = options->pattern_count,
                                .steering = steering},
                            error);
}

/* Count the functions that were found, and print. */
static int count_found(const struct calls_options *options, struct call_watch *watch, pid_t pid,
                       struct error *error)
{
    struct error unsteered;
    /* The filter of a recording refuses new sockets. */
    struct call_steering *steering =
        call_steering_new(CONTROL_SOCKET_FOLDER, options->command_line, &unsteered);
    struct call_facts facts;
    int result = start(options, watch, steering, error);

    if (!result) {
        privileges_record(options->split, false);
        say_start(options, call_watch_functions(watch), pid);
        if (!steering)
            message_say("'beamflame ctl' can't steer this recording: %s", unsteered.text);
        call_run(watch, options->duration, &facts);
        call_steering_free(steering);
        steering = NULL; /* nobody answers while it prints */
        result = print(watch, &facts, options, error);
        calls_warn(&facts);
        if (!result && facts.end == CALL_END_ERROR) {
            *error = facts.error;
            result = -1;
        }
    }
    call_steering_free(steering);
    return result;
}

static int count_calls(const struct calls_options *options, struct vm *vm, struct error *error)
{
    struct call_watch *watch = call_watch_new(vm, error);
    int result = watch ? find_functions(options, watch, error) : -1;

    if (!result && options->dry_run)
        result = print_functions(call_watch_functions(watch), error);
    else if (!result)
        result = count_found(options, watch, vm->pid, error);
    call_watch_free(watch);
    return result;
}

static int run_in_vm(const struct calls_options *options, struct error *error)
{
    struct targets targets;
    int result;

    if (child_check_room(error) || targets_open(&options->target, &targets, error))
        return -1;
    signals_end_recording();
    result = count_calls(options, targets.of[0]->vm, error);
    targets_close(&targets);
    return result;
}

static int run(int argc, char **argv)
{
    struct calls_options options = {
        .target = {.one = true, .warn = message_warning}, .budget = 0.01, .top = SIZE_MAX};
    char *command_line = command_line_join("calls", argc, argv);
    struct error error;
    int result;

    options.command_line = command_line;
    if (!command_line_parse(&calls_command, argc, argv, &options, &result)) {
        free(command_line);
        return result;
    }
    privileges_observe();
    result = run_in_vm(&options, &error) ? message_error(&error) : 0;
    while (options.pattern_count)
        free(options.patterns[--options.pattern_count]);
    free(command_line);
    return result;
}

static const struct option_group groups[] = {
    {"Options", option_list, 0},
    {"", local_symbols_option_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list,
     offsetof(struct calls_options, target.assumed_release)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command calls_command = {
    .name = "calls",
    .arguments = "MODULE:FUNCTION[/ARITY]...",
    .summary = "count calls of functions, by caller and process",
    .description =
        "Count each call of up to 4 Erlang functions, BIFs or NIFs, by caller and by process, "
        "without tracing. "
        "Without an arity, all arities are counted; `_` is any name, `*` any characters. Up to 64 "
        "functions are counted in turn, and numbers of calls are estimates. A hardware breakpoint "
        "on the function's entry "
        "counts; nothing is written to the VM. If that costs more than the budget, calls are "
        "counted at random times, and numbers of calls are estimates with an interval.",
    .groups = groups,
    .examples = "beamflame calls -p PID -d 10 lists:map/2\n"
                "beamflame calls -p PID -d 10 Enum.map/2 my_server:handle_call\n"
                "beamflame calls -p PID -d 10 --args 2 my_server:handle_call/3\n"
                "beamflame calls -p PID -d 10 --match 'my_server:handle_call({get, _}, _, _)'\n",
    .take_arguments = take_arguments,
    .check = check,
    .run = run,
};
