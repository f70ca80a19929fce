// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_answer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool.h"
#include "agent/unprivileged.h"
#include "output/formats.h"
#include "output/output.h"
#include "recording/recording_join.h"
#include "util/alloc.h"
#include "util/quantity.h"

enum {
    SECONDS = 60,
    SECONDS_MAX = 3600,
    RECORDINGS_MAX = 512,
};

/* The recordings that a profile is made of. */
struct inputs {
    int fds[RECORDINGS_MAX];
    size_t count;
    unsigned
        *damaged; /* shared with the child: recordings that can't be read, or not to their end */
    const char *node, *event, *trace; /* node and trace: NULL: all */
    const struct output_format *format;
};

/* ---- the child ---- */

/* Join the recordings. Of one that is damaged there is what lies before the damage. */
static int join(const struct inputs *inputs, struct error *error)
{
    const struct join_options options = {.order = JOIN_BY_TIME, .unreadable = inputs->damaged};
    struct join_part *parts;
    int fd = -1, joined;

    if (inputs->count == 1)
        return inputs->fds[0];
    joined = memfd_create("joined", MFD_CLOEXEC);
    if (joined < 0)
        return error_set(error, ERROR_FAILED, "the recordings can't be joined");
    parts = xcalloc(inputs->count, sizeof(*parts));
    for (size_t i = 0; i < inputs->count; i++)
        parts[i] = (struct join_part){inputs->fds[i], "a recording of the spool"};
    if (recording_join(parts, inputs->count, &options, joined, &fd, error) && fd >= 0)
        ++*inputs->damaged;
    free(parts);
    return fd;
}

/* Write the profile, or the error's sentence with its code. */
static int write_profile(void *context, int out, struct error *error)
{
    const struct inputs *inputs = context;
    struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = inputs->event};
    int fd = join(inputs, error);
    struct recording *recording =
        fd < 0 ? NULL : recording_open(fd, "a recording of the spool", error);
    struct output_request request = {
        .path = "profile", .format = inputs->format, .file = fdopen(dup(out), "w")};
    struct output_result written;

    if (!recording) {
        *inputs->damaged += inputs->count == 1;
        return -1;
    }
    if (inputs->node && selection_add_node(&settings.selection, inputs->node, error))
        return -1;
    if (inputs->trace && selection_add_trace(&settings.selection, inputs->trace, error))
        return -1;
    if (output_write(recording, &settings, &request, 1, &written, error))
        return -1;
    if (written.given.code) {
        *error = written.given;
        return -1;
    }
    if (written.empty_count)
        return error_set(error, ERROR_NO_SAMPLES, "no sample counts for this profile");
    return fflush(request.file) || ferror(request.file)
               ? error_set(error, ERROR_FAILED, "the profile can't be written")
               : 0;
}

/* ---- inputs ---- */

/* Open the recordings that ended at most `seconds` ago, and the newest one in any case. */
static int open_recordings(const char *directory, double seconds, struct inputs *inputs,
                           struct error *error)
{
    struct spool_list list;

    if (spool_list(directory, &list, error))
        return -1;
    for (size_t i = list.count; i-- > 0 && inputs->count < RECORDINGS_MAX;) {
        char *path;
        int fd;

        if (i + 1 < list.count && list.of[i].age > seconds)
            break;
        path = xasprintf("%s/%s", directory, list.of[i].name);
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            inputs->fds[inputs->count++] = fd;
        free(path);
    }
    spool_list_free(&list);
    if (!inputs->count)
        return error_set(error, ERROR_NO_SAMPLES, "no recording is complete yet");
    return 0;
}

static void close_recordings(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        close(inputs->fds[i]);
}

/* ---- answers ---- */

static const char *type_of(const struct output_format *format)
{
    static const struct {
        const char *format, *type;
    } types[] = {
        {"svg", "image/svg+xml"},
        {"html", "text/html; charset=utf-8"},
        {"json", "application/json"},
        {"speedscope", "application/json"},
        {"perf", "text/plain; charset=utf-8"},
        {"folded", "text/plain; charset=utf-8"},
        {"text", "text/plain; charset=utf-8"},
        {"dot", "text/vnd.graphviz; charset=utf-8"},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(types[i].format, format->name))
            return types[i].type;
    return "application/octet-stream";
}

static unsigned status_of(const struct error *error)
{
    switch (error->code) {
    case ERROR_USAGE:
        return 400;
    case ERROR_NO_SAMPLES:
        return 404;
    default:
        return 500;
    }
}

static struct http_answer answer_made(const struct inputs *inputs, int fd)
{
    struct http_answer answer = {.status = 200, .type = type_of(inputs->format), .fd = fd};
    struct stat status;

    fstat(fd, &status);
    answer.size = (uint64_t)status.st_size;
    return answer;
}

/* Make the profile in a child. */
static struct http_answer make(const struct agent_config *config, double seconds,
                               struct inputs *inputs)
{
    struct http_answer answer;
    struct error error;
    int fd = -1;

    inputs->damaged = mmap(NULL, sizeof(*inputs->damaged), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (inputs->damaged == MAP_FAILED)
        return http_answer_text(500, "no memory can be shared");
    if (open_recordings(config->spool.directory, seconds, inputs, &error) == 0)
        fd = unprivileged_make(write_profile, inputs, inputs->fds, inputs->count, &error);
    answer =
        fd >= 0 ? answer_made(inputs, fd) : http_answer_text(status_of(&error), "%s", error.text);
    answer.damaged = *inputs->damaged;
    munmap(inputs->damaged, sizeof(*inputs->damaged));
    close_recordings(inputs);
    return answer;
}

struct http_answer profile_answer(const struct agent_config *config,
                                  const struct http_request *request)
{
    const char *format = request->argument(request->context, "format");
    const char *text = request->argument(request->context, "seconds");
    const char *event = request->argument(request->context, "event");
    struct inputs inputs = {
        .node = request->argument(request->context, "node"),
        .trace = request->argument(request->context, "trace"),
        .event = event ? event : "cpu",
        .format = output_format_named(format ? format : "pprof"),
    };
    double seconds = SECONDS;
    char *end;

    if (!inputs.format)
        return http_answer_text(400, "there is no format '%s'; the formats are: %s", format,
                                output_format_names());
    if (text) {
        seconds = strtod(text, &end);
        if (end == text || *end || !(seconds > 0 && seconds <= SECONDS_MAX))
            return http_answer_text(400, "seconds must be a number from 1 to %d, not '%s'",
                                    SECONDS_MAX, text);
    }
    return make(config, seconds, &inputs);
}
