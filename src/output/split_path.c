// SPDX-License-Identifier: Apache-2.0
#include "output/split_path.h"

#include <ctype.h>
#include <string.h>

#include "output/formats.h"
#include "util/alloc.h"

/* A file name has at most 255 bytes: the longest suffix and that of a temporary file must fit. */
#define EVENT_MAX 100

/* Return where the suffix begins. ".gz" is a suffix for any format: the file is compressed. */
static size_t suffix_start(const char *path, const struct output_format *format)
{
    size_t size = strlen(path), suffix = output_suffix_of(format, path);

    if (!suffix && size > 3 && !strcmp(path + size - 3, ".gz"))
        suffix = 3;
    return size - suffix;
}

char *split_path(const char *path, const struct output_format *format, const char *event)
{
    size_t start = suffix_start(path, format);
    char *result = xasprintf("%.*s.%.*s%s", (int)start, path, EVENT_MAX, event, path + start);
    size_t end = strlen(result) - strlen(path + start);

    for (size_t i = start + 1; i < end; i++)
        if (!isalnum((unsigned char)result[i]) && !strchr("._-", result[i]))
            result[i] = '-';
    return result;
}
