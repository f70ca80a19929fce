// SPDX-License-Identifier: Apache-2.0
#include "output/formats.h"

#include <string.h>

#include "util/word_list.h"

#define ADDRESS_OF_FORMAT(name) &name##_format,
static const struct output_format *const formats[] = {OUTPUT_FORMATS(ADDRESS_OF_FORMAT)};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

size_t output_format_suffix(const struct output_format *format, const char *path)
{
    size_t size = strlen(path), longest = 0;

    for (const char *const *suffix = format->suffixes; *suffix; suffix++) {
        size_t end = strlen(*suffix);

        if (end > longest && end < size && !strcmp(path + size - end, *suffix))
            longest = end;
    }
    return longest;
}

const struct output_format *output_format_of(const char *path)
{
    const struct output_format *best = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        size_t end = output_format_suffix(formats[i], path);

        if (end <= longest)
            continue;
        best = formats[i];
        longest = end;
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

const char *output_format_suffixes(void)
{
    static char list[256];

    if (list[0])
        return list;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->suffixes[0])
            word_list_add(list, sizeof(list), formats[i]->suffixes[0]);
    return list;
}

const char *output_format_names(void)
{
    static char names[256];

    if (!names[0])
        for (size_t i = 0; i < FORMAT_COUNT; i++)
            word_list_add(names, sizeof(names), formats[i]->name);
    return names;
}
