// SPDX-License-Identifier: Apache-2.0
/* `beamflame [record]`: profile VMs until told to end, then write the outputs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/session.h"
#include "cli/targets.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"

enum { STEP_MS = 100 };

static volatile int stop_requested;

static void request_stop(int signal)
{
    (void)signal;
    stop_requested = 1;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

/* Without -o: beamflame-PID-TIME.perf and .svg in the current directory. */
static void default_outputs(struct output_options *output, pid_t pid)
{
    static const char *const suffixes[] = {"perf", "svg"};
    char moment[32];
    time_t now = time(NULL);
    struct tm local;

    strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    for (int i = 0; i < 2; i++)
        output->requests[output->count++] = (struct output_request){
            .path = xasprintf("beamflame-%d-%s.%s", pid, moment, suffixes[i]),
            .optional = true,
        };
}

/* The first .bfr output is what is recorded into: it is readable whatever happens later. */
static const char *take_recording_path(struct output_options *output)
{
    for (size_t i = 0; i < output->count; i++) {
        const struct output_format *format = output->requests[i].format;
        const char *path = output->requests[i].path;

        if (!format)
            format = output_format_of(path);
        if (!format || strcmp(format->name, "bfr") || !strcmp(path, "-"))
            continue;
        output->count--;
        memmove(&output->requests[i], &output->requests[i + 1],
                (output->count - i) * sizeof(output->requests[0]));
        return path;
    }
    return NULL;
}

static void show_progress(struct session *session)
{
    struct session_status status = session_status(session);

    fprintf(stderr, "\r\033[K%.0f s  %llu samples (%.0f/s)  %llu lost", status.seconds,
            (unsigned long long)status.samples, (double)status.samples / status.seconds,
            (unsigned long long)status.lost);
    if (status.busiest[0])
        fprintf(stderr, "  busiest: %s %.0f%%", status.busiest, status.busiest_share * 100);
    fflush(stderr);
}

/* Take samples until the time is over, a signal comes, or the targets have ended. */
static int record(struct session *session, const struct record_options *options,
                  struct error *error)
{
    uint64_t end = options->duration > 0
                       ? clock_ns(CLOCK_MONOTONIC) + (uint64_t)(options->duration * 1e9)
                       : UINT64_MAX;
    bool live = !options->output.quiet && isatty(STDERR_FILENO);
    uint64_t shown = 0;
    int result = 0;

    while (!result && !stop_requested && session_alive(session)) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        uint64_t left_ms = now < end ? (end - now) / 1000000 : 0;

        if (now >= end)
            break;
        result = session_step(session, left_ms < STEP_MS ? (int)left_ms + 1 : STEP_MS, error);
        if (live && now - shown >= 500000000) {
            show_progress(session);
            shown = now;
        }
    }
    if (live)
        fprintf(stderr, "\r\033[K");
    return result;
}

static char *join_arguments(int argc, char **argv)
{
    char *line = xstrdup("beamflame");

    for (int i = 1; i < argc; i++) {
        char *longer = xasprintf("%s %s", line, argv[i]);

        free(line);
        line = longer;
    }
    return line;
}

static void say_start(const struct record_options *options, size_t targets)
{
    fprintf(stderr, "beamflame: sampling %zu VM%s at %u Hz ", targets, targets > 1 ? "s" : "",
            options->frequency);
    if (options->duration > 0)
        fprintf(stderr, "for %g s\n", options->duration);
    else
        fprintf(stderr, "until Ctrl-C\n");
}

/* Record into a file; a descriptor that reads it is handed out in *ret_fd, -1 if there is none. A
 * failure while recording ends it early, and what it holds is kept. */
static int make_recording(const struct record_options *options, struct targets *targets,
                          const char *path, const char *command_line, uint64_t started, int *ret_fd,
                          struct error *error)
{
    struct session *session = session_start(options, targets, path, command_line, started, error);
    struct error finish_error;
    int result, finished;

    *ret_fd = -1;
    if (!session)
        return -1;
    if (!options->output.quiet)
        say_start(options, targets->count);
    result = record(session, options, error);
    finished = session_finish(session, ret_fd, &finish_error);
    session_free(session);
    if (!result && finished)
        *error = finish_error;
    return result ? result : finished;
}

static int record_and_render(struct record_options *options, struct targets *targets,
                             const char *command_line, uint64_t started)
{
    const char *path;
    struct error error;
    int fd, failed = 0, rendered;

    if (!options->output.count)
        default_outputs(&options->output, targets->vms[0]->pid);
    path = take_recording_path(&options->output);
    if (make_recording(options, targets, path, command_line, started, &fd, &error))
        failed = message_error(&error);
    if (fd < 0)
        return failed;
    if (failed)
        message_warning("recording ended early; what it holds up to then is kept");
    if (path && !options->output.quiet)
        fprintf(stderr, "beamflame: wrote %s\n", path);
    rendered = render(fd, path ? path : "the recording", &options->output);
    return failed ? failed : rendered;
}

static int check_outputs(const struct record_options *options, struct error *error)
{
    bool peers = false;

    for (int i = 0; i < options->event_count; i++)
        peers |= event_has_peers(options->events[i].name);
    return render_check(&options->output,
                        (uint32_t)options->event_count + options->cpu + options->wall, peers,
                        error);
}

int command_record(int argc, char **argv)
{
    struct record_options options;
    struct targets targets;
    struct error error;
    uint64_t started = clock_ns(CLOCK_MONOTONIC);
    char *command_line = join_arguments(argc, argv);
    int result;

    parse_record_options(argc, argv, &options);
    handle_signals();
    if (check_outputs(&options, &error) ||
        targets_open(&options, &stop_requested, &targets, &error)) {
        result = message_error(&error);
    } else {
        result = record_and_render(&options, &targets, command_line, started);
        targets_close(&targets);
    }
    output_options_free(&options.output);
    free(command_line);
    return result;
}
