// SPDX-License-Identifier: Apache-2.0
#include "view/selection.h"

#include <inttypes.h>

#include "util/nearest_word.h"

static void separate(struct buffer *text)
{
    if (text->size)
        buffer_text(text, "; ");
}

static void suggest(const struct profile *profile, const char *who, struct buffer *text)
{
    struct nearest_word nearest = nearest_word_begin(who);
    struct profile_counts counts = profile_counts(profile);

    for (process_id id = 1; id <= counts.processes; id++) {
        const struct process_entry *process = profile_get_process(profile, id);

        if (selection_is_process(profile, id, who))
            return;
        nearest_word_consider(&nearest, profile_text(profile, process->name));
        nearest_word_consider(&nearest, profile_text(profile, process->label));
        nearest_word_consider(&nearest, profile_text(profile, process->initial_call));
    }
    for (ancestor_id id = 1; id <= counts.ancestors; id++) {
        const char *name = profile_text(profile, profile_get_ancestor(profile, id)->name);

        if (selection_is_name(name, who))
            return;
        nearest_word_consider(&nearest, name);
    }
    separate(text);
    buffer_format(text, "no process is '%s'", who);
    if (nearest.word)
        buffer_format(text, ", did you mean '%s'?", nearest.word);
}

static void suggest_node(const struct profile *profile, const char *who, struct buffer *text)
{
    uint32_t count = profile_counts(profile).targets;
    const char *before = "";

    for (target_id id = 1; id <= count; id++)
        if (selection_is_node(profile, id, who))
            return;
    separate(text);
    buffer_format(text, "no node is '%s', the nodes are: ", who);
    for (target_id id = 1; id <= count; id++, before = ", ") {
        const struct target_entry *target = profile_get_target(profile, id);

        buffer_format(text, "%s%s (%" PRIu32 ")", before, profile_text(profile, target->node),
                      target->pid);
    }
}

void suggestion_find_names(const struct selection_options *options, const struct profile *profile,
                           struct buffer *text)
{
    const struct selection_processes *const lists[] = {&options->processes, &options->children_of,
                                                       &options->descendants_of};

    for (size_t i = 0; i < options->nodes.count; i++)
        suggest_node(profile, options->nodes.list[i], text);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            suggest(profile, lists[i]->list[j], text);
}

/* True if the profile has the parent or an ancestor of a process. */
static bool has_parents(const struct profile *profile)
{
    for (process_id id = 1; id <= profile_counts(profile).processes; id++) {
        const struct process_entry *process = profile_get_process(profile, id);

        if (process->parent || process->ancestors)
            return true;
    }
    return false;
}

int suggestion_nothing_selected(const struct selection_options *options,
                                const struct profile *profile, uint64_t count, const char *what,
                                struct error *error)
{
    struct buffer text = {0};

    if ((options->children_of.count || options->descendants_of.count) && !has_parents(profile))
        return error_set(error, ERROR_NO_SAMPLES,
                         "the recording does not have the parents of processes: --children-of and "
                         "--descendants-of need a recording (.bfr) of a node");
    suggestion_find_names(options, profile, &text);
    error_set(error, ERROR_NO_SAMPLES, "the options select none of the %" PRIu64 " %s%s%.*s", count,
              what, text.size ? "; " : "", (int)text.size, text.size ? text.data : "");
    buffer_free(&text);
    return -1;
}
