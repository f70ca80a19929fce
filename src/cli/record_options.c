// SPDX-License-Identifier: Apache-2.0
/* The options of `beamflame record`. */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/sample_clock.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/verbose.h"
#include "output/output_file.h"
#include "profile/dump.h"
#include "profile/events.h"
#include "util/alloc.h"

enum { BEFORE_MOST = 3600 }; /* seconds that are kept in memory */

bool record_options_make_segments(const struct record_options *options)
{
    return options->recorder.loop > 0 || options->session.trigger_count;
}

struct segment_files record_options_files(const struct record_options *options, const char *path)
{
    const struct output_options *output = &options->output;

    return (struct segment_files){
        .recording = path,
        .requests = output->requests,
        .request_count = output->count,
        .settings = &output->settings,
        .stats_path = output->stats_path,
        .keep = options->keep,
        .temporary = temporary_directory(),
    };
}

const char *record_options_output_in_place(const struct record_options *options)
{
    const struct output_options *outputs = &options->output;

    for (size_t i = 0; i <= outputs->count; i++) {
        const char *path = i < outputs->count ? outputs->requests[i].path : outputs->stats_path;

        if (path && output_file_is_in_place(path))
            return path;
    }
    return NULL;
}

void record_options_init(struct record_options *options)
{
    *options = (struct record_options){
        .targets.warn = message_warning,
        .session = {.clock = sample_clock_default(),
                    .frequency = 99,
                    .wall_frequency = 20,
                    .budget = 0.01,
                    .long_us = 10000,
                    .flush_ns = 1000000000,
                    .warn = message_warning},
        .recorder = {.before = -1, .after = -1, .holdoff = -1, .step_ms = 100},
        .output.settings.view.grouping = {{GROUP_NAME}}};
}

void record_options_free(struct record_options *options)
{
    for (size_t i = 0; i < options->session.trigger_count; i++)
        trigger_free(&options->session.triggers[i]);
    free(options->targets.command);
    free(options->targets.pids);
    shared_options_free_output(&options->output);
}

/* ---- targets ---- */

static int add_pid(void *target, char *text, struct error *error)
{
    struct target_options *targets = &((struct record_options *)target)->targets;

    targets->pids = xgrow(targets->pids, &targets->pid_room, targets->pid_count, sizeof(pid_t));
    return option_pid(text, &targets->pids[targets->pid_count++], error);
}

static int set_user(void *target, char *name, struct error *error)
{
    (void)error;
    ((struct record_options *)target)->targets.user = name;
    return 0;
}

static const struct command_option target_list[] = {
    {"pid", 'p', "PID", "Profile the VM with this process id. May be repeated.", add_pid, NULL},
    {"all", 'a', NULL, "Profile every VM of this host, and those that start later.",
     option_set_true, NULL, offsetof(struct record_options, targets.all)},
    {"user", 0, "NAME",
     "Start COMMAND as this user. The default is you, also with sudo; --user root keeps root.",
     set_user, NULL},
    {0},
};

/* ---- what to record ---- */

static int set_duration(void *target, char *text, struct error *error)
{
    return option_seconds("the duration", text,
                          &((struct record_options *)target)->recorder.duration, error);
}

static int add_events(void *target, char *list, struct error *error)
{
    return session_options_add_events(&((struct record_options *)target)->session, list, error);
}

static int set_frequency(void *target, char *text, struct error *error)
{
    long value;

    if (option_number("the frequency", text, 1, 50000, &value, error))
        return -1;
    ((struct record_options *)target)->session.frequency = (uint32_t)value;
    return 0;
}

static int set_clock(void *target, char *name, struct error *error)
{
    const struct clock_event *clock = sample_clock_find(name, error);

    if (!clock)
        return -1;
    ((struct record_options *)target)->session.clock = clock;
    if (clock->is_hardware && sample_clock_under_hypervisor())
        message_warning("a hypervisor runs this machine: the interrupts of '%s' come late and are "
                        "slow there; cpu-clock, the default, has neither problem",
                        name);
    return 0;
}

static int set_node_metrics(void *target, char *text, struct error *error)
{
    return dump_sections_parse(text, DUMP_NODE,
                               &((struct record_options *)target)->session.node_metrics, error);
}

static int set_kernel_addresses(void *target, char *text, struct error *error)
{
    (void)text;
    if (geteuid())
        return error_set(error, ERROR_PERMISSION, "--kernel-addresses needs root");
    ((struct record_options *)target)->session.kernel_addresses = true;
    return 0;
}

static int set_wall_frequency(void *target, char *text, struct error *error)
{
    long value;

    if (option_number("the frequency", text, 1, 1000, &value, error))
        return -1;
    ((struct record_options *)target)->session.wall_frequency = (uint32_t)value;
    return 0;
}

static int set_top(void *target, char *text, struct error *error)
{
    return session_options_parse_top(text, &((struct record_options *)target)->session.top, error);
}

static int set_budget(void *target, char *text, struct error *error)
{
    double percent;

    if (option_percent("the budget", text, &percent, error))
        return -1;
    ((struct record_options *)target)->session.budget = percent / 100;
    return 0;
}

static int set_long_schedule(void *target, char *text, struct error *error)
{
    long ms;

    if (option_number("a long schedule", text, 1, 1000000, &ms, error))
        return -1;
    ((struct record_options *)target)->session.long_us = 1000 * (uint32_t)ms;
    return 0;
}

static const struct command_option recording_list[] = {
    {"duration", 'd', "SEC", "Stop after this many seconds. Without -d, stop at Ctrl-C.",
     set_duration, NULL},
    {"event", 'e', "EVENT,...",
     "Record these events. May be repeated. The default is cpu. 'beamflame probes' lists what a "
     "VM offers.",
     add_events, session_options_event_names},
    {"frequency", 'F', "HZ", "Take this many CPU samples a second on each CPU. The default is 99.",
     set_frequency, NULL},
    {"wall-frequency", 0, "HZ",
     "Sweep over the processes this many times a second for event wall. The default is 20.",
     set_wall_frequency, NULL},
    {"top", 0, "N[:METRIC[:SEC]]",
     "Limit event wall to the N processes with the largest METRIC. They are chosen anew every SEC "
     "seconds, 10 by default. METRIC is one of " STRUCT_METRICS
     ". Put + before METRIC to use its growth: +msgq. The default is +reductions.",
     set_top, NULL},
    {"budget", 0, "PERCENT",
     "Limit the cost of probes to this share of the VM's CPU time. The default is 1.", set_budget,
     NULL},
    {"long-schedule", 0, "MS",
     "List slices of this many milliseconds or more for event sched. The default is 10.",
     set_long_schedule, NULL},
    {"node-metrics", 0, "SECTION,...",
     "Also record metrics of the whole VM about once a second: its memory by allocator, its ETS "
     "tables, its ports.",
     set_node_metrics, dump_node_section_names},
    {"kernel-addresses", 0, NULL,
     "Record addresses of kernel functions. By default they are recorded as 0, because they reveal "
     "where the kernel is in memory (KASLR). Needs root.",
     set_kernel_addresses, NULL},
    {"clock", 0, "CLOCK",
     "Take CPU samples by this clock. The default, cpu-clock, is a timer of the kernel; cycles and "
     "other counters need a PMU.",
     set_clock, sample_clock_names},
    {0},
};

/* ---- long recordings ---- */

static int set_loop(void *target, char *text, struct error *error)
{
    double *loop = &((struct record_options *)target)->recorder.loop;

    if (option_seconds("--loop", text, loop, error))
        return -1;
    if (*loop < 1)
        return error_set(error, ERROR_USAGE, "--loop must be 1 second or more, not '%s'", text);
    return 0;
}

static int set_keep(void *target, char *text, struct error *error)
{
    long count;

    if (option_number("--keep", text, 1, 1000000, &count, error))
        return -1;
    ((struct record_options *)target)->keep = (size_t)count;
    return 0;
}

static int set_max_size(void *target, char *text, struct error *error)
{
    return option_bytes("--max-size", text, &((struct record_options *)target)->recorder.max_size,
                        error);
}

static int set_flush(void *target, char *text, struct error *error)
{
    double seconds;

    if (option_seconds("--flush", text, &seconds, error))
        return -1;
    ((struct record_options *)target)->session.flush_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static const struct command_option rotation_list[] = {
    {"loop", 0, "SEC",
     "Record without a gap into files of this many seconds. -o FILE.SUFFIX becomes "
     "FILE-NODE-TIME.SUFFIX, with the time in UTC.",
     set_loop, NULL},
    {"keep", 0, "N", "Keep the newest N files of each output, and remove older ones.", set_keep,
     NULL},
    {"max-size", 0, "BYTES",
     "End the recording, or the file of --loop, at this size: bytes, or a number with k, M or G.",
     set_max_size, NULL},
    {"flush", 0, "SEC",
     "Write what was recorded to the file every SEC seconds, 1 by default. A crash of beamflame "
     "loses at most that much.",
     set_flush, NULL},
    {0},
};

/* ---- triggers ---- */

static int add_trigger(void *target, char *text, struct error *error)
{
    struct record_options *options = target;
    struct session_options *session = &options->session;
    struct trigger *trigger = &session->triggers[session->trigger_count];

    if (session->trigger_count == TRIGGERS_MAX)
        return error_set(error, ERROR_USAGE, "at most %d triggers can be set", TRIGGERS_MAX);
    if (trigger_parse(text, trigger, error))
        return -1;
    session->trigger_count++;
    options->recorder.fires_at_exit |= trigger->kind == TRIGGER_EXIT;
    return 0;
}

static int set_before(void *target, char *text, struct error *error)
{
    double *before = &((struct record_options *)target)->recorder.before;

    if (option_seconds_or_0("--before", text, before, error))
        return -1;
    if (*before > BEFORE_MOST)
        return error_set(error, ERROR_USAGE, "--before must be %d seconds or less", BEFORE_MOST);
    return 0;
}

static int set_after(void *target, char *text, struct error *error)
{
    return option_seconds_or_0("--after", text, &((struct record_options *)target)->recorder.after,
                               error);
}

static int set_holdoff(void *target, char *text, struct error *error)
{
    return option_seconds_or_0("--holdoff", text,
                               &((struct record_options *)target)->recorder.holdoff, error);
}

static const struct command_option trigger_list[] = {
    {"trigger", 0, "CONDITION",
     "Record only around the moment when CONDITION becomes true, into files named as with --loop. "
     "If given more than once, one true condition suffices. CONDITION is cpu>PERCENT% (of all "
     "schedulers), gc>PERCENT% (of the CPU time), memory>BYTES (resident), runq>N, METRIC>N (of "
     "any process), process WHO METRIC>N, or exit (the node ends). METRIC is one of " STRUCT_METRICS
     ".",
     add_trigger, NULL},
    {"before", 0, "SEC", "Start this many seconds before the trigger fires. The default is 10.",
     set_before, NULL},
    {"after", 0, "SEC", "End this many seconds after the trigger fires. The default is 10.",
     set_after, NULL},
    {"holdoff", 0, "SEC",
     "Wait this many seconds before a trigger may fire again. The default is 60.", set_holdoff,
     NULL},
    {0},
};

/* ---- all of them ---- */

const struct option_group record_option_groups[] = {
    {"Which VMs (default: the only VM of this host)", target_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list,
     offsetof(struct record_options, targets.assumed_release)},
    {"What to record", recording_list, 0},
    {"", name_option_list, offsetof(struct record_options, session.name_keys)},
    {"", symbols_option_list, 0},
    {"", inline_option_list, 0},
    {"What to write", output_option_list, offsetof(struct record_options, output)},
    {"", stats_option_list, offsetof(struct record_options, output)},
    {"", summary_option_list, offsetof(struct record_options, output)},
    {"", memory_option_list, 0},
    {"How to show it", view_option_list, offsetof(struct record_options, output)},
    {"", label_option_list, offsetof(struct record_options, output)},
    {"Long recordings", rotation_list, 0},
    {"Triggers", trigger_list, 0},
    {"Which samples to show (a .bfr output has all of them)", selection_option_list,
     offsetof(struct record_options, output.settings.selection)},
    {"", trace_option_list, offsetof(struct record_options, output.settings.selection)},
    {"Which time to show", time_option_list,
     offsetof(struct record_options, output.settings.selection)},
    VERBOSE_OPTION_GROUP,
    {0},
};

int record_options_take_arguments(void *target, char **arguments, bool after_dashes,
                                  struct error *error)
{
    struct record_options *options = target;
    size_t count = 0;

    if (!arguments[0])
        return 0;
    if (!after_dashes)
        return error_set(error, ERROR_USAGE,
                         "unknown command '%s'; to start and profile a program, write -- before it",
                         arguments[0]);
    while (arguments[count])
        count++;
    options->targets.command = xcalloc(count + 1, sizeof(*arguments));
    memcpy(options->targets.command, arguments, count * sizeof(*arguments));
    return 0;
}

static int check_segments(const struct record_options *options, struct error *error)
{
    if (options->keep && !record_options_make_segments(options))
        return error_set(error, ERROR_USAGE, "--keep needs --loop or --trigger");
    if (options->recorder.loop && options->session.trigger_count)
        return error_set(error, ERROR_USAGE,
                         "--loop and --trigger can't be combined: --loop "
                         "records all of the time");
    return 0;
}

/* Seconds that are not given are negative. */
static int check_triggers(struct record_options *options, struct error *error)
{
    struct recorder_options *recorder = &options->recorder;
    double *const seconds[] = {&recorder->before, &recorder->after, &recorder->holdoff};
    static const double defaults[] = {10, 10, 60};

    for (int i = 0; i < 3; i++) {
        if (*seconds[i] >= 0 && !options->session.trigger_count)
            return error_set(error, ERROR_USAGE, "--before, --after and --holdoff need --trigger");
        if (*seconds[i] < 0)
            *seconds[i] = defaults[i];
    }
    return 0;
}

/* True if an output has a format that holds one event. */
static bool output_of_one_event(const struct record_options *options)
{
    const struct output_options *output = &options->output;

    for (size_t i = 0; i < output->count; i++) {
        const struct output_request *request = &output->requests[i];
        const struct output_format *format =
            request->format ? request->format : output_format_of(request->path);

        if (format && format->one_event)
            return true;
    }
    return false;
}

/* A format that holds one event has a file for each function, and what functions a pattern stands
 * for is not known yet: --keep would not find the files. */
static int check_kept_calls(const struct record_options *options, struct error *error)
{
    if (!options->keep || !options->session.function_count || !output_of_one_event(options))
        return 0;
    return error_set(error, ERROR_USAGE,
                     "--keep can't remove the files of event " EVENT_CALL
                     "%s, of which each function has its own: write a .bfr or .html",
                     options->session.functions[0]);
}

static int check_functions(const struct record_options *options, struct error *error)
{
    const struct target_options *targets = &options->targets;

    if (options->session.function_count && (targets->all || targets->pid_count > 1))
        return error_set(error, ERROR_USAGE,
                         "event " EVENT_CALL "%s counts calls in one VM: give one -p",
                         options->session.functions[0]);
    return 0;
}

int record_options_check_change(const struct record_options *options, struct error *error)
{
    if (options->keep && output_of_one_event(options))
        return error_set(error, ERROR_USAGE,
                         "--keep removes files by their names, and those of a format with a file "
                         "for each event would change: record with .bfr or .html");
    return check_functions(options, error);
}

int record_options_check(void *target, struct error *error)
{
    struct record_options *options = target;
    const struct target_options *targets = &options->targets;
    struct session_options *session = &options->session;

    if ((targets->pid_count > 0) + targets->all + (targets->command != NULL) > 1)
        return error_set(error, ERROR_USAGE, "give one of -p, -a and a command, not several");
    if (targets->user && !targets->command)
        return error_set(error, ERROR_USAGE, "--user is for a command (-- COMMAND)");
    if (session->top.count && !session->wall)
        return error_set(error, ERROR_USAGE, "--top is for event wall (-e wall)");
    if (check_functions(options, error))
        return -1;
    session->cpu |= !session->event_count && !session->wall && !session->function_count;
    if (check_segments(options, error) || check_kept_calls(options, error) ||
        check_triggers(options, error) ||
        shared_options_check_selection(&options->output.settings.selection, error))
        return -1;
    return shared_options_check_output(&options->output, error);
}
