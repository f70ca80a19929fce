// SPDX-License-Identifier: Apache-2.0
#include "view/suggestion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum { NAME_BYTES_MAX = 255 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

/* The number of bytes to insert, remove or replace to make one text of the other (Levenshtein).
 * Texts are cut at NAME_BYTES_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES_MAX + 1];
    size_t a_size = strnlen(a, NAME_BYTES_MAX), b_size = strnlen(b, NAME_BYTES_MAX);

    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_size];
}

struct name_search {
    const struct profile *profile;
    const char *who;
    const char *best; /* NULL: none */
    size_t distance;  /* of `best` */
};

/* A name that contains `who` is as near as one with two mistakes. */
static void consider(struct name_search *search, string_id id)
{
    const char *name = profile_text(search->profile, id);
    size_t size = strlen(search->who), own = strlen(name), far;

    if (!own)
        return;
    if (strcasestr(name, search->who))
        far = 2;
    else if ((own > size ? own - size : size - own) >= search->distance)
        return;
    else
        far = distance(name, search->who);
    if (far < search->distance) {
        search->best = name;
        search->distance = far;
    }
}

static void suggest(const struct profile *profile, const char *who, struct buffer *text)
{
    struct name_search search = {
        .profile = profile, .who = who, .distance = 2 + strnlen(who, NAME_BYTES_MAX) / 4};
    struct profile_counts counts = profile_counts(profile);

    for (process_id id = 1; id <= counts.processes; id++) {
        const struct process_entry *process = profile_get_process(profile, id);

        if (selection_is_process(profile, id, who))
            return;
        consider(&search, process->name);
        consider(&search, process->label);
        consider(&search, process->initial_call);
    }
    for (ancestor_id id = 1; id <= counts.ancestors; id++) {
        string_id name = profile_get_ancestor(profile, id)->name;

        if (selection_is_name(profile_text(profile, name), who))
            return;
        consider(&search, name);
    }
    buffer_format(text, "; no process is '%s'", who);
    if (search.best)
        buffer_format(text, ", did you mean '%s'?", search.best);
}

void suggestion_find_processes(const struct selection_options *options,
                               const struct profile *profile, struct buffer *text)
{
    const struct selection_processes *const lists[] = {&options->processes, &options->children_of,
                                                       &options->descendants_of};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            suggest(profile, lists[i]->list[j], text);
}

int suggestion_nothing_selected(const struct selection_options *options,
                                const struct profile *profile, uint64_t count, const char *what,
                                struct error *error)
{
    struct buffer text = {0};

    suggestion_find_processes(options, profile, &text);
    error_set(error, ERROR_NO_SAMPLES, "the options select none of the %" PRIu64 " %s%.*s", count,
              what, (int)text.size, text.size ? text.data : "");
    buffer_free(&text);
    return -1;
}
