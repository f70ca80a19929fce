// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "output/formats.h"
#include "output/output_check.h"
#include "recording/recording_keep.h"

enum { REQUESTS_MAX = OUTPUTS_MAX + 2 }; /* plus the summary and the statistics */

static void add_statistics(const struct output_options *options, struct output_request *requests,
                           size_t *count)
{
    if (options->stats_path)
        requests[(*count)++] =
            (struct output_request){.path = options->stats_path, .format = &stats_json_format};
}

static bool uses_standard_output(const struct output_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (!strcmp(options->requests[i].path, "-"))
            return true;
    return options->stats_path && !strcmp(options->stats_path, "-");
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

/* Only the input says how many events there are. Files of one event each have names beside that of
 * the request, which may be a link to another folder. */
static void permit_output(struct file_fence *fence, const struct output_request *request)
{
    const struct output_format *format = output_request_format(request);

    if (!strcmp(request->path, "-"))
        return;
    file_fence_write(fence, request->path);
    if (format && format->one_event)
        file_fence_write_beside(fence, request->path);
}

struct file_fence *render_fence(const struct output_options *options)
{
    struct file_fence *fence = file_fence_new();

    for (size_t i = 0; i < options->count; i++)
        permit_output(fence, &options->requests[i]);
    if (options->stats_path && strcmp(options->stats_path, "-"))
        file_fence_write(fence, options->stats_path);
    recording_permit_places(fence, temporary_directory());
    file_fence_read_time_zone(fence);
    return fence;
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

int render_say_empty(const struct output_request *request)
{
    struct error error;

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
        if (render_say_empty(result->empty[i]))
            code = ERROR_NO_SAMPLES;
    return code;
}

int render(int fd, const char *name, const struct output_options *options, bool *ret_written)
{
    struct output_request requests[REQUESTS_MAX];
    size_t count = options->count;
    struct output_result written;
    struct error error;
    struct recording *recording = recording_open(fd, name, &error);
    int result;

    if (ret_written)
        *ret_written = false;
    if (!recording)
        return message_error(&error);
    memcpy(requests, options->requests, count * sizeof(*requests));
    add_statistics(options, requests, &count);
    if (!options->quiet && !options->no_summary)
        requests[count++] = (struct output_request){
            .path = "summary",
            .format = options->settings.comparison ? &changes_format : &summary_format,
            .file = uses_standard_output(options) ? stderr : stdout,
        };
    result = output_write(recording, &options->settings, requests, count, &written, &error);
    recording_close(recording);
    if (result)
        return message_error(&error);
    if (ret_written)
        *ret_written = true;
    if (!options->quiet)
        say_what_was_written(options, &written);
    result = say_what_is_empty(&written);
    if (written.given.code)
        result = message_error(&written.given);
    output_result_free(&written);
    return result;
}
