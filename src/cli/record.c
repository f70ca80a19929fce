// SPDX-License-Identifier: Apache-2.0
/* `beamflame [record]`: profiles VMs until it is stopped, then writes the outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "cli/verbose.h"
#include "native/debug_fetch.h"
#include "native/memory.h"
#include "os/child.h"
#include "os/control_socket.h"
#include "os/courier.h"
#include "os/privileges.h"
#include "output/output_file.h"
#include "profile/events.h"
#include "recording/recording_keep.h"
#include "rotation/options.h"
#include "rotation/recorder.h"
#include "rotation/rotation.h"
#include "rotation/steering.h"
#include "session/session.h"
#include "session/targets.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/stop.h"

enum { NODE_BYTES = 1100 /* of the name of a node, with its NUL */ };

/* Messages of `record` while it records: progress on a terminal, and reports. */

/* The line on a terminal that shows the progress. */
struct record_progress {
    bool quiet;
    bool live; /* standard error is a terminal, and progress is wanted */
    uint64_t shown;
};

static const uint64_t INTERVAL_NS = 500000000;

/* ---- progress ---- */

static void clear_progress(const struct record_progress *progress)
{
    if (progress->live)
        message_progress("%s", "");
}

static void show_progress(const struct session *session, enum recorder_state state)
{
    static const char *const words[] = {[RECORDER_WAITS] = "waiting  ",
                                        [RECORDER_FIRED] = "recording  ",
                                        [RECORDER_RECORDS] = "",
                                        [RECORDER_PAUSED] = "paused  "};
    struct session_status status = session_status(session);
    struct buffer rest = {0};

    if (status.busiest[0])
        buffer_format(&rest, "  busiest: %s %.0f%%", status.busiest, status.busiest_share * 100);
    debug_fetch_progress(&rest);
    message_progress("%s%.0f s  %llu samples (%.0f/s)  %llu lost%.*s", words[state], status.seconds,
                     (unsigned long long)status.samples, (double)status.samples / status.seconds,
                     (unsigned long long)status.lost, (int)rest.size, rest.size ? rest.data : "");
    buffer_free(&rest);
}

/* Show the line, at most twice a second. */
static void report_progress(void *context, struct session *session, enum recorder_state state)
{
    struct record_progress *progress = context;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (state == RECORDER_ENDS)
        clear_progress(progress);
    else if (progress->live && now - progress->shown >= INTERVAL_NS) {
        progress->shown = now;
        show_progress(session, state);
    }
}

/* ---- what happened ---- */

static void report_failed(void *context, const struct error *error)
{
    (void)context;
    message_error(error);
}

static void report_wrote(void *context, const char *path)
{
    if (!((const struct record_progress *)context)->quiet)
        message_say("wrote %s", path);
}

static void report_empty(void *context, const struct output_empty *empty)
{
    (void)context;
    render_say_empty(empty);
}

static void report_full(void *context, uint64_t max_size)
{
    if (!((const struct record_progress *)context)->quiet)
        message_say("the recording ends: it has reached the %llu bytes of --max-size",
                    (unsigned long long)max_size);
}

static void report_fired(void *context, const char *trigger, double before, double after)
{
    const struct record_progress *progress = context;

    clear_progress(progress);
    if (!progress->quiet)
        message_say("trigger %s; recording from %.1f s before to %g s after", trigger, before,
                    after);
}

/* Set *progress, and return functions that print reports with it; if `quiet`, only errors and
 * warnings. */
static struct rotation_reports record_reports(struct record_progress *progress, bool quiet)
{
    *progress = (struct record_progress){.quiet = quiet, .live = !quiet && isatty(STDERR_FILENO)};
    return (struct rotation_reports){
        .context = progress,
        .warn = message_warning,
        .failed = report_failed,
        .wrote = report_wrote,
        .empty = report_empty,
        .progress = report_progress,
        .full = report_full,
        .fired = report_fired,
        .log_file = verbose_file(),
    };
}

/* Print what the segments lack. Return the exit code. */
static int record_say_segments(const struct rotation_counts *counts)
{
    if (counts->late)
        message_warning(
            "%u segments are longer than requested, because the one before was still being written",
            counts->late);
    if (counts->cut)
        message_warning("%u segments ended early; what they have is kept", counts->cut);
    if (counts->failed)
        message_warning("%u of %u segments could not be written completely", counts->failed,
                        counts->written + counts->empty + counts->failed);
    if (counts->failed || counts->cut)
        return ERROR_FAILED;
    return counts->empty && !counts->written ? ERROR_NO_SAMPLES : 0;
}

static void say_held(pid_t pid)
{
    struct error error;

    error_set(&error, ERROR_UNSUPPORTED,
              "process %d holds back its memory while it is read: the recording ends", (int)pid);
    message_error(&error);
}

static void add_default(struct output_options *output, char *path)
{
    output->requests[output->count++] = (struct output_request){.path = path, .optional = true};
}

/* Without -o, write beamflame-PID-TIME.perf and .svg in the current directory. For segments, whose
 * names get node and time, the base is beamflame.perf and .svg. */
static void default_outputs(struct record_options *options, pid_t pid)
{
    char moment[32];
    time_t now = time(NULL);
    struct tm local;
    char *name;

    strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    name = record_options_make_segments(options) ? xstrdup("beamflame")
                                                 : xasprintf("beamflame-%d-%s", pid, moment);
    add_default(&options->output, xasprintf("%s.perf", name));
    add_default(&options->output, xasprintf("%s.svg", name));
    free(name);
}

/* Remove the first .bfr output that is a local file from the list, and return its path. Samples are
 * recorded into this file, so it is readable whatever happens later. */
static const char *take_recording_path(struct output_options *output)
{
    for (size_t i = 0; i < output->count; i++) {
        const struct output_format *format = output->requests[i].format;
        const char *path = output->requests[i].path;

        if (!format)
            format = output_format_of(path);
        if (!format || strcmp(format->name, "bfr") || output_file_is_in_place(path) ||
            courier_has(path))
            continue;
        output->count--;
        memmove(&output->requests[i], &output->requests[i + 1],
                (output->count - i) * sizeof(output->requests[0]));
        return path;
    }
    return NULL;
}

static void say_start(const struct record_options *options, size_t targets)
{
    struct buffer text = {0};

    buffer_format(&text, "sampling %zu VM%s at %u Hz ", targets, targets > 1 ? "s" : "",
                  options->session.frequency);
    if (options->recorder.duration > 0)
        buffer_format(&text, "for %g s", options->recorder.duration);
    else
        buffer_text(&text, "until Ctrl-C");
    if (options->recorder.loop > 0)
        buffer_format(&text, ", in segments of %g s", options->recorder.loop);
    if (options->session.trigger_count)
        buffer_format(&text, ", recording %g s before and %g s after a trigger",
                      options->recorder.before, options->recorder.after);
    message_say("%.*s", (int)text.size, text.data);
    buffer_free(&text);
}

/* `unsteered`: why requests can't come, or NULL. */
static void say_begin(const struct record_options *options, size_t targets,
                      const struct error *unsteered)
{
    if (options->output.quiet)
        return;
    say_start(options, targets);
    if (unsteered)
        message_say("'beamflame ctl' can't steer this recording: %s", unsteered->text);
}

static struct session *start(const struct record_options *options, struct targets *targets,
                             const char *command_line, uint64_t started, struct error *error)
{
    struct session *session;
    struct error unsteered;
    int failed;

    if (debug_fetch_start(error))
        return NULL;
    session = session_start(&options->session, targets, command_line, started, error);
    if (!session)
        return NULL;
    /* The filter of a recording refuses new sockets. */
    failed = steering_listen(options->recorder.steering, CONTROL_SOCKET_FOLDER, &unsteered);
    privileges_record(options->session.event_count > 0, targets->all);
    say_begin(options, targets->count, failed ? &unsteered : NULL);
    return session;
}

static void end(const struct record_options *options, struct session *session)
{
    session_free(session);
    steering_close(options->recorder.steering);
    debug_fetch_end(message_warning);
}

/* The NODE in names of segments: the node, or the host if there are several nodes. */
static void name_of_node(const struct record_options *options, struct targets *targets, char *name,
                         size_t size)
{
    if (options->targets.all || targets->count > 1) {
        gethostname(name, size);
        name[size - 1] = '\0';
        return;
    }
    vm_node_name(targets->of[0]->vm, name, size);
}

/* Record into a file. `snapshots`: as of recorder_run(). *ret_fd becomes a descriptor that reads
 * it, or -1. A failure ends the recording early, and the samples until then are kept. */
static int make_recording(const struct record_options *options, struct targets *targets,
                          const char *path, const char *command_line, uint64_t started,
                          struct rotation *snapshots, int *ret_fd, struct error *error)
{
    const struct recording_place place = {path, temporary_directory()};
    struct session *session = start(options, targets, command_line, started, error);
    int fd, result = -1;

    *ret_fd = -1;
    if (!session)
        return -1;
    fd = recording_writer_file(path, temporary_directory(), error);
    if (fd >= 0 && recording_writer_is_in_memory(fd))
        message_warning(
            "no file can be created in %s, /var/tmp or /tmp: the recording is in memory",
            temporary_directory());
    if (fd >= 0)
        result = recorder_run(session, &options->recorder, &stop_requested, &place, snapshots, fd,
                              ret_fd, error);
    end(options, session);
    if (fd >= 0 && result && *ret_fd < 0 && path) {
        recording_keep_remove_empty(path);
        error_prefix(error, "%s", path);
    }
    return result;
}

static int record_and_render(const struct record_options *options, struct targets *targets,
                             const char *path, const char *command_line, uint64_t started)
{
    const struct segment_files files = record_options_files(options, path);
    struct rotation *snapshots = NULL;
    struct error error;
    char node[NODE_BYTES];
    int fd, failed = 0, rendered;

    name_of_node(options, targets, node, sizeof(node));
    if (!record_options_output_in_place(options))
        snapshots = rotation_new(&files, &options->session, node, options->recorder.reports);
    if (make_recording(options, targets, path, command_line, started, snapshots, &fd, &error))
        failed = message_error(&error);
    if (snapshots)
        rotation_finish(snapshots);
    if (fd < 0)
        return failed;
    if (failed && path)
        message_warning("the recording ended early; what %s has of it is kept", path);
    else if (failed)
        message_warning("the recording ended early; the outputs have what was recorded until then");
    stop_guard_end();
    rendered = render_recording(&options->output, path, fd);
    close(fd);
    return failed ? failed : rendered;
}

static int record_in_segments(const struct record_options *options, struct targets *targets,
                              const char *path, const char *command_line, uint64_t started)
{
    const struct segment_files files = record_options_files(options, path);
    struct rotation_counts counts;
    struct rotation *rotation;
    struct session *session;
    struct error error;
    char node[NODE_BYTES];
    int failed, written;

    name_of_node(options, targets, node, sizeof(node));
    session = start(options, targets, command_line, started, &error);
    if (!session)
        return message_error(&error);
    rotation = rotation_new(&files, &options->session, node, options->recorder.reports);
    failed =
        options->session.trigger_count
            ? triggered_run(session, &options->recorder, &stop_requested, rotation, &error)
            : recorder_run_segments(session, &options->recorder, &stop_requested, rotation, &error);
    if (failed)
        failed = message_error(&error);
    end(options, session);
    counts = rotation_finish(rotation);
    written = record_say_segments(&counts);
    return failed ? failed : written;
}

static int record(struct record_options *options, struct targets *targets, const char *command_line,
                  uint64_t started)
{
    struct error error;
    const char *path;

    if (!options->output.count) {
        default_outputs(options, targets->of[0]->vm->pid);
        if (courier_look(options->output.requests[0].path, &error))
            return message_error(&error);
    }
    path = take_recording_path(&options->output);
    if (record_options_make_segments(options))
        return record_in_segments(options, targets, path, command_line, started);
    return record_and_render(options, targets, path, command_line, started);
}

/* Segments must go to files. */
static int check_segments(const struct record_options *options, struct error *error)
{
    const char *path = record_options_output_in_place(options);

    if (!path)
        return 0;
    return error_set(error, ERROR_USAGE,
                     "%s is not a regular file, and each %s needs a file of its own: name a file",
                     path,
                     options->session.trigger_count ? "firing of a trigger" : "segment of --loop");
}

static int check_outputs(const struct record_options *options, struct error *error)
{
    bool peers = false;

    if (record_options_make_segments(options) && check_segments(options, error))
        return -1;
    for (int i = 0; i < options->session.event_count; i++)
        peers |= event_has_peers(options->session.events[i].name);
    return render_check(
        &options->output,
        (uint32_t)(options->session.event_count + options->session.cpu + options->session.wall) +
            (uint32_t)options->session.function_count,
        peers, error);
}

/* Check the outputs for events that are recorded from now on. */
static int check_events(const void *context, const struct session_options *wanted,
                        struct error *error)
{
    struct record_options own = *(const struct record_options *)context;

    own.session = *wanted;
    if (record_options_check_change(&own, error))
        return -1;
    return check_outputs(&own, error);
}

/* A command must be able to become root again, as by sudo, so it is started before that ends. */
static int open_targets(const struct record_options *options, struct targets *targets,
                        struct error *error)
{
    int result;

    if (!options->targets.command)
        privileges_observe();
    if (child_check_room(error))
        return -1;
    result = targets_open(&options->targets, targets, error);
    if (options->targets.command)
        privileges_observe();
    return result;
}

static int run(int argc, char **argv)
{
    struct record_options options;
    struct rotation_reports reports;
    struct record_progress progress;
    struct targets targets;
    struct error error;
    uint64_t started = clock_ns(CLOCK_MONOTONIC);
    char *command_line = command_line_join(NULL, argc, argv);
    int result;

    record_options_init(&options);
    if (!command_line_parse(&record_command, argc, argv, &options, &result)) {
        record_options_free(&options);
        free(command_line);
        return result;
    }
    reports = record_reports(&progress, options.output.quiet);
    options.recorder.reports = &reports;
    alloc_give_back();
    signals_end_recording();
    signals_steer_recording();
    stop_guard_start(say_held);
    if (check_outputs(&options, &error) || open_targets(&options, &targets, &error)) {
        result = message_error(&error);
    } else {
        options.recorder.steering = steering_new(&(struct steered_recording){
            &targets, command_line, &options.session, check_events, &options});
        result = record(&options, &targets, command_line, started);
        steering_free(options.recorder.steering);
        targets_close(&targets);
    }
    record_options_free(&options);
    free(command_line);
    return result;
}

const struct command record_command = {
    .name = "record",
    .arguments = "[-- COMMAND [ARG...]]",
    .summary = "profile VMs, and write flame graphs, recordings and other outputs",
    .description =
        "Profile Erlang VMs from outside. Nothing is loaded into them, nothing is restarted. "
        "Without -o, write a .perf and an .svg file into this folder, and print a summary. With "
        "-- COMMAND, start the command and profile its VM.",
    .groups = record_option_groups,
    .examples = "beamflame -p PID -d 30 -o x.svg               # where CPU time goes\n"
                "beamflame -p PID -d 30 -e cpu,wall -o x.html  # running and waiting: a page\n"
                "beamflame -p PID -d 30 -e gc,alloc            # garbage collection\n"
                "beamflame -a --loop 300 --keep 288 -o x.bfr   # all day, every VM\n"
                "beamflame -d 20 -o x.svg -- erl -s my_app     # a VM that is started now\n",
    .take_arguments = record_options_take_arguments,
    .check = record_options_check,
    .run = run,
};
