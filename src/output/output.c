// SPDX-License-Identifier: Apache-2.0
#include "output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/formats.h"
#include "output/output_file.h"
#include "util/alloc.h"

static const struct output_format *const formats[] = {
    &perf_format,
    &folded_format,
    &svg_format,
    &bfr_format,
};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct output_format *output_format_of(const char *path)
{
    const struct output_format *best = NULL;
    size_t size = strlen(path), best_end = 0;

    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        for (const char *const *suffix = formats[i]->suffixes; *suffix; suffix++) {
            size_t end = strlen(*suffix);

            if (end <= best_end || end >= size || strcmp(path + size - end, *suffix))
                continue;
            best = formats[i];
            best_end = end;
        }
    }
    return best;
}

const struct output_format *output_format_named(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

const char *output_format_names(void)
{
    static char names[256];

    if (!names[0])
        for (size_t i = 0; i < FORMAT_COUNT; i++)
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "",
                     formats[i]->name);
    return names;
}

static const struct output_format *format_of_request(const struct output_request *request)
{
    return request->format ? request->format : output_format_of(request->path);
}

int output_check(const struct output_request *requests, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = requests[i].path;

        if (!format_of_request(&requests[i]))
            return error_set(error, ERROR_USAGE,
                             "%s: the name tells no format; use --format with one of: %s", path,
                             output_format_names());
        if (requests[i].file)
            continue;
        for (size_t j = 0; j < i; j++)
            if (!requests[j].file && !strcmp(requests[j].path, path))
                return error_set(error, ERROR_USAGE, "%s: output is given twice", path);
        if (output_file_check(path, error))
            return -1;
    }
    return 0;
}

/* One output while it is written. */
struct output {
    const struct output_format *format;
    struct output_file file;
    void *state; /* NULL: not begun, or finished */
};

struct outputs {
    struct output *list;
    size_t count;
    uint64_t samples;
};

static int begin(struct output *output, const struct output_request *request,
                 const struct output_source *source, struct error *error)
{
    output->format = format_of_request(request);
    if (output_file_open(&output->file, request->path, request->file, error))
        return -1;
    output->state = output->format->begin(output->file.file, source, error);
    return output->state ? 0 : -1;
}

static int each_sample(void *context, const struct sample *sample, struct error *error)
{
    struct outputs *outputs = context;

    outputs->samples++;
    for (size_t i = 0; i < outputs->count; i++) {
        struct output *output = &outputs->list[i];

        if (output->format->sample(output->state, sample, error))
            return -1;
        if (ferror_unlocked(output->file.file))
            return error_set(error, ERROR_FAILED, "cannot write %s: %s",
                             output->file.path ? output->file.path : "the output", strerror(errno));
    }
    return 0;
}

static int finish(struct outputs *outputs, const struct recording_totals *totals,
                  struct error *error)
{
    for (size_t i = 0; i < outputs->count; i++) {
        struct output *output = &outputs->list[i];
        void *state = output->state;

        output->state = NULL;
        if (output->format->finish(state, totals, error) || output_file_close(&output->file, error))
            return -1;
    }
    for (size_t i = 0; i < outputs->count; i++)
        if (output_file_publish(&outputs->list[i].file, error))
            return -1;
    return 0;
}

static void release(struct outputs *outputs)
{
    struct error ignored;

    for (size_t i = 0; i < outputs->count; i++) {
        struct output *output = &outputs->list[i];

        if (output->state)
            output->format->finish(output->state, NULL, &ignored);
        output_file_release(&output->file);
    }
    free(outputs->list);
}

static int write_all(struct recording *recording, const struct output_source *source,
                     struct profile *profile, const struct output_request *requests,
                     struct outputs *outputs, struct error *error)
{
    bool cut; /* the totals tell it as well */

    for (size_t i = 0; i < outputs->count; i++)
        if (begin(&outputs->list[i], &requests[i], source, error))
            return -1;
    if (recording_read(recording, profile, each_sample, outputs, &cut, error))
        return -1;
    if (!outputs->samples)
        return error_set(error, ERROR_NO_SAMPLES, "the recording holds no samples");
    return finish(outputs, recording_get_totals(recording), error);
}

int output_write(struct recording *recording, const struct view_options *options,
                 const struct output_request *requests, size_t count,
                 struct recording_totals *ret_totals, struct error *error)
{
    struct outputs outputs = {xcalloc(count, sizeof(struct output)), count, 0};
    struct profile *profile = profile_new();
    struct view *view = view_new(profile, options);
    struct output_source source = {recording_get_header(recording), profile, view};
    int result = output_check(requests, count, error);

    if (!result)
        result = write_all(recording, &source, profile, requests, &outputs, error);
    release(&outputs);
    view_free(view);
    profile_free(profile);
    if (!result)
        *ret_totals = *recording_get_totals(recording);
    return result;
}
