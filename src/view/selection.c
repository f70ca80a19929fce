// SPDX-License-Identifier: Apache-2.0
#include "view/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/value_scales.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/log.h"

/* ---- options ---- */

static void free_patterns(struct selection_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        regfree(&patterns->list[i]);
    free(patterns->list);
}

void selection_options_free(struct selection_options *options)
{
    free_patterns(&options->include);
    free_patterns(&options->exclude);
    free(options->nodes.list);
    free(options->traces.list);
    free(options->spans.list);
    free(options->processes.list);
    free(options->children_of.list);
    free(options->descendants_of.list);
    *options = (struct selection_options){.statuses = 0};
}

int selection_add_pattern(struct selection_patterns *patterns, const char *pattern,
                          struct error *error)
{
    char problem[128];
    regex_t compiled;
    int result = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);

    if (result) {
        regerror(result, &compiled, problem, sizeof(problem));
        return error_set(error, ERROR_USAGE, "'%s' is not a regular expression: %s", pattern,
                         problem);
    }
    patterns->list = xreallocarray(patterns->list, patterns->count + 1, sizeof(*patterns->list));
    patterns->list[patterns->count++] = compiled;
    return 0;
}

int selection_add_process(struct selection_processes *processes, const char *who,
                          struct error *error)
{
    if (!*who)
        return error_set(error, ERROR_USAGE,
                         "name a process by its pid, registered name, label, initial call, or the "
                         "module of its initial call (MODULE:_)");
    processes->list =
        xreallocarray(processes->list, processes->count + 1, sizeof(*processes->list));
    processes->list[processes->count++] = who;
    return 0;
}

static int no_status(const char *name, int size, struct error *error)
{
    struct buffer names = {0};

    for (int i = STATUS_NONE + 1; i < STATUS_COUNT; i++)
        buffer_format(&names, "%s%s", names.size ? ", " : "", profile_status_name(i));
    error_set(error, ERROR_USAGE, "there is no status '%.*s'; the statuses are: %.*s", size, name,
              (int)names.size, names.data);
    buffer_free(&names);
    return -1;
}

/* The statuses that a name selects. */
static uint32_t bits_of_status(enum process_status status)
{
    uint32_t bits = 0;

    if (status != STATUS_WAITING)
        return 1u << status;
    for (int i = 0; i < STATUS_COUNT; i++)
        if (profile_status_waits((enum process_status)i))
            bits |= 1u << i;
    return bits;
}

int selection_add_statuses(struct selection_options *options, const char *names,
                           struct error *error)
{
    uint32_t statuses = options->statuses;

    for (bool more = true; more;) {
        size_t size = strcspn(names, ",");
        int status = STATUS_NONE + 1;

        while (status < STATUS_COUNT && (strlen(profile_status_name(status)) != size ||
                                         strncmp(profile_status_name(status), names, size) != 0))
            status++;
        if (status == STATUS_COUNT)
            return no_status(names, (int)size, error);
        statuses |= bits_of_status((enum process_status)status);
        more = names[size];
        names += size + more;
    }
    options->statuses = statuses;
    return 0;
}

/* ---- results that are kept ---- */

enum flag {
    KNOWN = 1 << 0,
    INCLUDED = 1 << 1, /* a frame matches */
    EXCLUDED = 1 << 2,
    PROCESS = 1 << 3, /* is in `processes` */
    NODE = 1 << 6,    /* is in `nodes` */
    CHILD = 1 << 4,   /* its parent is in `children_of` */
    DESCENDANT = 1 << 5,
};

/* Sets of enum flag, by id. */
struct flags {
    uint8_t *of;
    size_t size;
};

static uint8_t *flags_at(struct flags *flags, uint32_t id)
{
    flags->of = xgrow(flags->of, &flags->size, id, sizeof(*flags->of));
    return &flags->of[id];
}

/* The condition that a sample does not meet. */
enum unmet_condition {
    MEETS_ALL,
    BY_NODE,
    BY_TIME,
    BY_TRACE,
    BY_STATUS,
    BY_PROCESS,
    BY_FRAMES,
    CONDITIONS,
};

struct selection {
    const struct selection_options *options;
    const struct profile *profile;
    struct view *view;
    uint64_t start;
    struct flags symbols, stacks, roots, ancestors, processes, nodes;
    stack_id known_stacks;
    ancestor_id known_ancestors;
    process_id known_processes;
    uint64_t counts[CONDITIONS]; /* samples by the first condition that they do not meet */
};

struct selection *selection_new(const struct selection_options *options,
                                const struct profile *profile, struct view *view, uint64_t start)
{
    struct selection *selection = xcalloc(1, sizeof(*selection));

    selection->options = options;
    selection->profile = profile;
    selection->view = view;
    selection->start = start;
    return selection;
}

void selection_free(struct selection *selection)
{
    if (!selection)
        return;
    free(selection->symbols.of);
    free(selection->stacks.of);
    free(selection->roots.of);
    free(selection->ancestors.of);
    free(selection->processes.of);
    free(selection->nodes.of);
    free(selection);
}

/* ---- by frames ---- */

static bool any_matches(const struct selection_patterns *patterns, const char *text)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (!regexec(&patterns->list[i], text, 0, NULL, 0))
            return true;
    return false;
}

static uint8_t flags_of_text(const struct selection *selection, const char *text)
{
    uint8_t flags = KNOWN;

    if (any_matches(&selection->options->include, text))
        flags |= INCLUDED;
    if (any_matches(&selection->options->exclude, text))
        flags |= EXCLUDED;
    return flags;
}

static uint8_t flags_of_frame(struct selection *selection, frame_id id)
{
    const struct frame *frame = profile_get_frame(selection->profile, id);
    uint8_t *flags = flags_at(&selection->symbols, frame->symbol);

    if (!*flags)
        *flags = flags_of_text(selection, view_symbol(selection->profile, frame));
    return *flags;
}

/* Computed in the order of ids: a parent's id is lower than its child's. */
static uint8_t flags_of_stack(struct selection *selection, stack_id id)
{
    if (!id)
        return 0;
    while (selection->known_stacks < id) {
        stack_id next = ++selection->known_stacks;
        const struct stack_node *node = profile_get_stack(selection->profile, next);
        uint8_t flags = flags_of_frame(selection, node->frame);

        flags |= *flags_at(&selection->stacks, node->parent);
        *flags_at(&selection->stacks, next) = flags;
    }
    return *flags_at(&selection->stacks, id);
}

static uint8_t flags_of_root(struct selection *selection, const struct sample *sample)
{
    view_root_id root = view_root_of_sample(selection->view, sample);
    uint8_t *flags = flags_at(&selection->roots, root);
    const struct view_frame *frames;
    size_t count;

    if (!*flags) {
        count = view_root_frames(selection->view, root, &frames);
        for (size_t i = 0; i < count; i++)
            *flags |= flags_of_text(selection, frames[i].text);
        *flags |= KNOWN;
    }
    return *flags;
}

static bool wants_frames(struct selection *selection, const struct sample *sample)
{
    const struct selection_options *options = selection->options;
    uint8_t flags;

    if (!options->include.count && !options->exclude.count)
        return true;
    flags = flags_of_stack(selection, sample->stack) | flags_of_root(selection, sample);
    return !(flags & EXCLUDED) && (!options->include.count || flags & INCLUDED);
}

/* ---- by process ---- */

/* True for what follows the name of an Elixir module in a function's name: "init/1", but not
 * "Sub.init/1", which is of a module below. */
static bool is_elixir_function(const char *rest)
{
    return *rest == '.' && !memchr(rest + 1, '.', strcspn(rest, "/") - 1);
}

/* True if `who` is "MODULE:_" and the function is in that module: "shop:init/1", or in Elixir
 * "Shop.Cart.init/1", whose module is written with or without "Elixir.". */
static bool is_in_module(const char *function, const char *who)
{
    static const char elixir[] = "Elixir.";
    size_t size = strlen(who);

    if (size <= 2 || strcmp(who + size - 2, ":_") != 0)
        return false;
    if (!strncmp(function, who, size - 1))
        return true;
    if (!strncmp(who, elixir, strlen(elixir))) {
        who += strlen(elixir);
        size -= strlen(elixir);
    }
    return size > 2 && !strncmp(function, who, size - 2) && is_elixir_function(function + size - 2);
}

bool selection_is_name(const char *name, const char *who)
{
    static const char elixir[] = "Elixir.";

    if (*name < 'A' || *name > 'Z')
        return !strcmp(name, who);
    if (!strncmp(who, elixir, strlen(elixir)))
        who += strlen(elixir);
    while (*name && (*name == *who || (*name == '.' && *who == ':'))) {
        name++;
        who++;
    }
    return *name == *who;
}

static bool is_process(const struct profile *profile, const struct process_entry *process,
                       const char *who)
{
    return !strcmp(profile_text(profile, process->pid), who) ||
           selection_is_name(profile_text(profile, process->name), who) ||
           selection_is_name(profile_text(profile, process->label), who) ||
           selection_is_name(profile_text(profile, process->initial_call), who) ||
           is_in_module(profile_text(profile, process->initial_call), who);
}

bool selection_is_process(const struct profile *profile, process_id process, const char *who)
{
    return is_process(profile, profile_get_process(profile, process), who);
}

static bool is_any(const struct profile *profile, const struct process_entry *process,
                   const struct selection_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (is_process(profile, process, processes->list[i]))
            return true;
    return false;
}

static bool is_named(const char *name, const struct selection_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (selection_is_name(name, processes->list[i]))
            return true;
    return false;
}

/* The flags of a process whose nearest ancestor is `id`. Computed in the order of ids: an entry
 * refers only to lower ids. */
static uint8_t flags_of_ancestor(struct selection *selection, ancestor_id id)
{
    const struct selection_options *options = selection->options;

    if (!id)
        return 0;
    while (selection->known_ancestors < id) {
        ancestor_id next = ++selection->known_ancestors;
        const struct ancestor *ancestor = profile_get_ancestor(selection->profile, next);
        const char *name = profile_text(selection->profile, ancestor->name);
        uint8_t flags = *flags_at(&selection->ancestors, ancestor->up) & DESCENDANT;

        if (is_named(name, &options->children_of))
            flags |= CHILD;
        if (is_named(name, &options->descendants_of))
            flags |= DESCENDANT;
        *flags_at(&selection->ancestors, next) = flags;
    }
    return *flags_at(&selection->ancestors, id);
}

/* The flags that a process has because of its parent `id`. */
static uint8_t flags_of_parent(struct selection *selection, process_id id)
{
    const struct selection_options *options = selection->options;
    const struct process_entry *parent;
    uint8_t flags;

    if (!id)
        return 0;
    parent = profile_get_process(selection->profile, id);
    flags = *flags_at(&selection->processes, id) & DESCENDANT;
    if (is_any(selection->profile, parent, &options->children_of))
        flags |= CHILD;
    if (is_any(selection->profile, parent, &options->descendants_of))
        flags |= DESCENDANT;
    return flags;
}

static uint8_t flags_of_process(struct selection *selection, process_id id)
{
    while (selection->known_processes < id) {
        process_id next = ++selection->known_processes;
        const struct process_entry *process = profile_get_process(selection->profile, next);
        uint8_t flags = flags_of_ancestor(selection, process->ancestors) |
                        flags_of_parent(selection, process->parent);

        if (is_any(selection->profile, process, &selection->options->processes))
            flags |= PROCESS;
        *flags_at(&selection->processes, next) = flags;
    }
    return id ? *flags_at(&selection->processes, id) : 0;
}

static bool wants_process(struct selection *selection, process_id id)
{
    const struct selection_options *options = selection->options;
    uint8_t asked = 0;

    if (options->processes.count)
        asked |= PROCESS;
    if (options->children_of.count)
        asked |= CHILD;
    if (options->descendants_of.count)
        asked |= DESCENDANT;
    return !asked || (flags_of_process(selection, id) & asked) == asked;
}

/* ---- by node ---- */

static bool wants_node(struct selection *selection, const struct sample *sample)
{
    const struct selection_nodes *nodes = &selection->options->nodes;
    target_id target;
    uint8_t *flags;

    if (!nodes->count)
        return true;
    target = value_scales_target(selection->profile, sample);
    if (!target)
        return false;
    flags = flags_at(&selection->nodes, target);
    for (size_t i = 0; i < nodes->count && !*flags; i++)
        if (selection_is_node(selection->profile, target, nodes->list[i]))
            *flags = NODE;
    *flags |= KNOWN;
    return *flags & NODE;
}

/* ---- samples ---- */

static bool wants_time(const struct selection *selection, uint64_t time)
{
    uint64_t since = time > selection->start ? time - selection->start : 0;

    return since >= selection->options->from_ns &&
           (!selection->options->has_end || since < selection->options->to_ns);
}

static enum unmet_condition not_met(struct selection *selection, const struct sample *sample)
{
    uint32_t statuses = selection->options->statuses;

    if (!wants_node(selection, sample))
        return BY_NODE;
    if (!wants_time(selection, sample->time))
        return BY_TIME;
    if (!selection_is_trace(selection->options, selection->profile, sample->trace_span))
        return BY_TRACE;
    if (statuses && !(statuses & 1u << sample->status))
        return BY_STATUS;
    if (!wants_process(selection, sample->process))
        return BY_PROCESS;
    return wants_frames(selection, sample) ? MEETS_ALL : BY_FRAMES;
}

bool selection_wants(struct selection *selection, const struct sample *sample)
{
    enum unmet_condition condition = not_met(selection, sample);

    selection->counts[condition]++;
    return condition == MEETS_ALL;
}

void selection_log(const struct selection *selection, const char *what)
{
    const uint64_t *counts = selection->counts;

    log_decision("selection",
                 "%" PRIu64 " %s are selected; left out are %" PRIu64 " by node, %" PRIu64
                 " by time, %" PRIu64 " by trace, %" PRIu64 " by status, %" PRIu64
                 " by process, %" PRIu64 " by frames",
                 counts[MEETS_ALL], what, counts[BY_NODE], counts[BY_TIME], counts[BY_TRACE],
                 counts[BY_STATUS], counts[BY_PROCESS], counts[BY_FRAMES]);
}

void selection_keep_processes(struct selection *selection, struct dump *dump)
{
    size_t kept = 0;

    for (size_t i = 0; i < dump->count; i++) {
        const struct dump_process *process = &dump->processes[i];
        const struct sample sample = {
            .process = process->process,
            .stack = process->stack,
            .thread = process->thread,
            .status = process->status,
            .flags = process->flags,
        };

        if (selection_wants(selection, &sample))
            dump->processes[kept++] = *process;
    }
    dump->left_out += dump->count - kept;
    dump->count = kept;
}
