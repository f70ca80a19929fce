// SPDX-License-Identifier: Apache-2.0
#include "output/output.h"

#include <string.h>

#include "output/formats.h"
#include "output/output_file.h"

const struct output_format *output_check_format(const struct output_request *request)
{
    return request->format ? request->format : output_format_of(request->path);
}

int output_check_split(const struct output_request *request, struct error *error)
{
    if (!request->file && !output_file_is_in_place(request->path))
        return 0;
    return error_set(error, ERROR_USAGE,
                     "%s: the recording has several events, and %s holds one: name a file, or "
                     "choose one event with --event",
                     request->path, output_check_format(request)->name);
}

int output_check_peers(const char *path, enum error_code code, struct error *error)
{
    return error_set(
        error, code,
        "%s: the recording has neither event msg (who sends to whom) nor sched (who wakes whom)",
        path);
}

int output_check(const struct output_request *requests, size_t count, uint32_t events, bool peers,
                 struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct output_format *format = output_check_format(&requests[i]);
        const char *path = requests[i].path;

        if (!format)
            return error_set(
                error, ERROR_USAGE,
                "%s: the name does not end in the suffix of a format; choose one with --format: %s",
                path, output_format_names());
        if (format->one_event && events > 1 && output_check_split(&requests[i], error))
            return -1;
        if (format->of_peers && !peers)
            return output_check_peers(path, ERROR_USAGE, error);
        if (requests[i].file)
            continue;
        for (size_t j = 0; j < i; j++)
            if (!requests[j].file && !strcmp(requests[j].path, path))
                return error_set(error, ERROR_USAGE, "%s is given twice as an output", path);
        if (output_file_check(path, error))
            return -1;
    }
    return 0;
}

bool output_check_path(const struct output_request *requests, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        const struct output_format *format = output_check_format(&requests[i]);

        if (!strcmp(requests[i].path, path) ||
            (format && format->one_event &&
             output_file_fits_split_path(path, requests[i].path, format)))
            return true;
    }
    return false;
}
