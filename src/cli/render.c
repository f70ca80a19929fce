// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/pager.h"
#include "cli/verbose.h"
#include "input/input.h"
#include "os/confined.h"
#include "os/courier.h"
#include "os/fence.h"
#include "os/file_broker.h"
#include "output/formats.h"
#include "output/output.h"
#include "recording/recording.h"
#include "recording/recording_keep.h"
#include "util/alloc.h"
#include "util/memory_limit.h"

#define KEPT "%s: the recording is kept in %s; 'beamflame report' makes outputs of it"

enum { REQUESTS_MAX = OUTPUTS_MAX + 2 }; /* plus the summary and the statistics */

static void add_statistics(const struct output_options *options, struct output_request *requests,
                           size_t *count)
{
    if (options->stats_path)
        requests[(*count)++] =
            (struct output_request){.path = options->stats_path, .format = &stats_json_format};
}

int render_check(const struct output_options *options, uint32_t events, bool peers,
                 struct error *error)
{
    struct output_request requests[REQUESTS_MAX];
    size_t count = options->count;

    memcpy(requests, options->requests, count * sizeof(*requests));
    add_statistics(options, requests, &count);
    return output_check(requests, count, events, peers, error);
}

/* Only the input says how many events there are. If there is a file for each event, the files lie
 * beside the path of the request, which may be a link to another folder. */
static void permit_output(struct file_fence *fence, const struct output_request *request)
{
    const struct output_format *format = output_check_format(request);

    if (!strcmp(request->path, "-") || courier_has(request->path))
        return;
    file_fence_write(fence, request->path);
    if (format && format->one_event)
        file_fence_write_beside(fence, request->path);
}

/* A fence around the outputs, the directory of temporary files, and the inputs. */
static struct file_fence *fence_around(const struct render_work *work)
{
    const struct output_options *options = work->output;
    struct file_fence *fence = file_fence_new();

    for (size_t i = 0; i < options->count; i++)
        permit_output(fence, &options->requests[i]);
    if (options->stats_path && strcmp(options->stats_path, "-") &&
        !courier_has(options->stats_path))
        file_fence_write(fence, options->stats_path);
    recording_keep_permit_places(fence, temporary_directory());
    return fence;
}

/* ---- what the process may have ---- */

static bool permits(void *context, const char *path)
{
    const struct render_work *work = context;
    struct output_request requests[REQUESTS_MAX];
    size_t count = work->output->count;

    memcpy(requests, work->output->requests, count * sizeof(*requests));
    add_statistics(work->output, requests, &count);
    return output_check_path(requests, count, path);
}

/* Give the descriptor of an input away, or a duplicate of that of the recording. */
static int open_input_of(void *context, const char *path, struct error *error)
{
    const struct render_work *work = context;

    if (!work->input_count)
        return fcntl(work->recording, F_DUPFD_CLOEXEC, 3);
    for (size_t i = 0; i < work->input_count; i++) {
        int fd = work->fds[i];

        if (fd < 0 || strcmp(work->inputs[i], path) != 0)
            continue;
        work->fds[i] = -1;
        return fd;
    }
    return error_set(error, ERROR_FAILED, "can't read '%.300s': it is no input", path);
}

static int open_temporary(void *context, struct error *error)
{
    (void)context;
    return recording_writer_file(NULL, temporary_directory(), error);
}

int render_apart(const struct render_work *work, bool *ret_written, struct error *error)
{
    const struct confined_work confined = {
        .run = work->run,
        .context = work->context,
        .files = {(void *)(uintptr_t)work, permits, open_input_of, open_temporary},
        .fence = fence_around(work),
        .memory = memory_limit_of_outputs(),
        .log_file = verbose_file(),
    };
    struct confined_end end = {0};
    int failed = confined_run(&confined, &end, error);

    if (ret_written)
        *ret_written = end.complete;
    return failed ? -1 : end.code;
}

/* An output on standard output is written at once: it can be larger than memory. The tables of
 * `prof` are for people. */
static bool is_streamed(const struct output_options *options)
{
    return !options->settings.prof && shared_options_use_standard_output(options);
}

int render_files(const struct report_options *options, int (*run)(void *context), void *context)
{
    struct render_work work = {
        .run = run,
        .context = context,
        .output = &options->output,
        .inputs = options->paths,
        .input_count = options->path_count,
        .recording = -1,
    };
    struct pager pager;
    struct error error;
    int code;

    if (render_check(&options->output, 1, true, &error))
        return message_error(&error);
    pager_begin(&pager, options->output.no_pager || is_streamed(&options->output));
    work.fds = input_files_open(options->paths, options->path_count, temporary_directory(), &error);
    code = work.fds ? render_apart(&work, NULL, &error) : -1;
    free(work.fds);
    return pager_end(&pager, code < 0 ? message_error(&error) : code);
}

/* ---- the process ---- */

int *render_take_inputs(const struct report_options *options, struct error *error)
{
    int *fds = xcalloc(options->path_count, sizeof(*fds));

    for (size_t i = 0; i < options->path_count; i++) {
        fds[i] = file_broker_input(options->paths[i], error);
        if (fds[i] >= 0)
            continue;
        free(fds);
        return NULL;
    }
    return fds;
}

static void say_what_was_written(const struct output_options *options,
                                 const struct output_result *result)
{
    for (size_t i = 0; i < result->path_count; i++) {
        const char *path = result->paths[i];

        if (strcmp(path, "-") && !(options->stats_path && !strcmp(path, options->stats_path)))
            message_say("wrote %s", path);
    }
}

int render_say_empty(const struct output_empty *empty)
{
    const struct output_request *request = empty->request;
    struct error error;

    if (empty->total.text[0])
        error_set(
            &error, ERROR_NO_SAMPLES,
            "%s was not written: no stack was taken of hits that count for it (their total is "
            "%s; record longer, or raise --budget)",
            request->path, empty->total.text);
    else
        error_set(&error, ERROR_NO_SAMPLES, "%s was not written: no sample counts for it",
                  request->path);
    if (!request->optional)
        return message_error(&error);
    message_warning("%s", error.text);
    return 0;
}

/* Returns the exit code. */
static int say_what_is_empty(const struct output_result *result)
{
    int code = 0;

    for (size_t i = 0; i < result->empty_count; i++)
        if (render_say_empty(&result->empty[i]))
            code = ERROR_NO_SAMPLES;
    return code;
}

static const struct output_format *summary_of(const struct output_options *options)
{
    if (options->settings.comparison)
        return &changes_format;
    return options->full_summary ? &summary_format : &short_summary_format;
}

/* A summary that is printed as it is, or that is kept to be fitted to the terminal. */
struct printed_summary {
    FILE *file; /* where it is printed */
    FILE *kept; /* NULL: it is not kept */
    char *text;
    size_t size;
};

static FILE *begin_summary(struct printed_summary *summary, const struct output_options *options)
{
    *summary = (struct printed_summary){
        .file = shared_options_use_standard_output(options) ? stderr : stdout};
    if (options->terminal.is_terminal)
        summary->kept = open_memstream(&summary->text, &summary->size);
    return summary->kept ? summary->kept : summary->file;
}

/* Print what is kept. Return 0, or -1 with error. */
static int end_summary(struct printed_summary *summary, const struct terminal *terminal,
                       struct error *error)
{
    struct buffer text = {0};
    int failed;

    if (!summary->kept)
        return 0;
    fclose(summary->kept);
    terminal_fit(terminal, summary->text, &text);
    fwrite(text.data, 1, text.size, summary->file);
    failed = fflush(summary->file) ? errno : 0;
    buffer_free(&text);
    free(summary->text);
    return failed ? error_set(error, ERROR_FAILED, "can't write the summary: %s", strerror(failed))
                  : 0;
}

/* Report what output_write() has written. Return the exit code. */
static int say_result(const struct output_options *options, const struct output_result *written)
{
    int result;

    if (written->unmatched[0])
        message_warning("%s", written->unmatched);
    if (!options->quiet)
        say_what_was_written(options, written);
    result = say_what_is_empty(written);
    return written->given.code ? message_error(&written->given) : result;
}

int render(int fd, const char *name, const struct output_options *options)
{
    struct output_request requests[REQUESTS_MAX];
    size_t count = options->count;
    struct printed_summary summary = {0};
    struct output_result written;
    struct error error, unprinted;
    struct recording *recording = recording_open(fd, name, &error);
    int result, failed;

    if (!recording)
        return message_error(&error);
    memcpy(requests, options->requests, count * sizeof(*requests));
    add_statistics(options, requests, &count);
    if (!options->quiet && !options->no_summary)
        requests[count++] = (struct output_request){
            .path = "summary",
            .format = summary_of(options),
            .file = begin_summary(&summary, options),
        };
    result = output_write(recording, &options->settings, requests, count, &written, &error);
    recording_close(recording);
    failed = end_summary(&summary, &options->terminal, &unprinted);
    if (result)
        return message_error(&error);
    file_broker_complete();
    result = say_result(options, &written);
    output_result_free(&written);
    return failed ? message_error(&unprinted) : result;
}

/* Save a recording that no output has. `reason`: why, "" if that was said. Return the exit code. */
static int keep_recording(int fd, const char *reason)
{
    struct error error;
    char *kept = recording_keep(fd, temporary_directory(), &error);

    if (!kept) {
        error_prefix(&error, "%s", reason);
        return message_error(&error);
    }
    message_say(KEPT, reason, kept);
    free(kept);
    return ERROR_FAILED;
}

/* The arguments of the process that writes the outputs of a recording. */
struct complete_recording {
    const struct output_options *options;
    const char *name; /* of the recording, for messages */
    const char *path; /* NULL: it is not in a file */
};

static int write_outputs(void *context)
{
    const struct complete_recording *recording = context;
    struct output_options options = *recording->options;
    struct error error;
    int fd = file_broker_input(recording->name, &error);

    options.settings.path = recording->path;
    return fd < 0 ? message_error(&error) : render(fd, recording->name, &options);
}

/* Report where the recording is when the process that writes the outputs has died. Return the exit
 * code. */
static int keep_unwritten(const char *path, int fd, const struct error *reason)
{
    if (!path)
        return keep_recording(fd, reason->text);
    message_say(KEPT, reason->text, path);
    return ERROR_FAILED;
}

int render_recording(const struct output_options *options, const char *path, int fd)
{
    struct complete_recording recording = {options, path ? path : "the recording", path};
    const struct render_work work = {
        .run = write_outputs,
        .context = &recording,
        .output = options,
        .recording = fd,
    };
    bool is_gone = path && !recording_keep_is_at(path, fd), written;
    struct error error;
    int result;

    if (path && !is_gone && !options->quiet)
        message_say("wrote %s", path);
    result = render_apart(&work, &written, &error);
    if (is_gone) {
        char *reason = xasprintf("%s was removed while it was recorded", path);

        if (result < 0)
            message_error(&error);
        result = keep_recording(fd, reason);
        free(reason);
    } else if (result < 0) {
        result = keep_unwritten(path, fd, &error);
    } else if (!path && result == ERROR_FAILED && !written) {
        keep_recording(fd, "not all outputs were written");
    }
    return result;
}
