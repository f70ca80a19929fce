// SPDX-License-Identifier: Apache-2.0
#include "cli/selection_options.h"

#include "cli/values.h"

static int add_include(void *target, char *pattern, struct error *error)
{
    return selection_add_pattern(&((struct selection_options *)target)->include, pattern, error);
}

static int add_exclude(void *target, char *pattern, struct error *error)
{
    return selection_add_pattern(&((struct selection_options *)target)->exclude, pattern, error);
}

static int add_statuses(void *target, char *names, struct error *error)
{
    return selection_add_statuses(target, names, error);
}

static int add_process(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->processes, who, error);
}

static int add_children(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->children_of, who, error);
}

static int add_descendants(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->descendants_of, who, error);
}

static int set_from(void *target, char *text, struct error *error)
{
    double seconds;

    if (value_seconds_or_0("--from", text, &seconds, error))
        return -1;
    ((struct selection_options *)target)->from_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static int set_to(void *target, char *text, struct error *error)
{
    struct selection_options *options = target;
    double seconds;

    if (value_seconds_or_0("--to", text, &seconds, error))
        return -1;
    options->to_ns = (uint64_t)(seconds * 1e9);
    options->has_end = true;
    return 0;
}

const struct command_option selection_option_list[] = {
    {"process", 0, "WHO",
     "Select this process. WHO is its pid (<0.N.S>), registered name, label or initial call "
     "(m:f/a); m:_ selects all processes whose initial call is in module m. May be repeated.",
     add_process, NULL},
    {"descendants-of", 0, "WHO",
     "Select all processes below this one, such as a supervisor. May be repeated.", add_descendants,
     NULL},
    {"children-of", 0, "WHO",
     "Select the processes that this one spawned, or that name it first in $ancestors. May be "
     "repeated.",
     add_children, NULL},
    {"status", 0, "STATUS,...",
     "Select processes in one of these states: running, runnable, waiting, suspended, exiting, "
     "garbage_collecting, free.",
     add_statuses, NULL},
    {"include", 'I', "REGEX",
     "Select stacks with a frame that matches this extended regular expression. Root frames "
     "count. Where it is repeated, one match is enough.",
     add_include, NULL},
    {"exclude", 'X', "REGEX", "Leave out stacks with a frame that matches. May be repeated.",
     add_exclude, NULL},
    {0},
};

const struct command_option time_option_list[] = {
    {"from", 0, "SEC", "Select samples from this second after the start of the recording on.",
     set_from, NULL},
    {"to", 0, "SEC", "Select samples before this second after the start of the recording.", set_to,
     NULL},
    {0},
};

int selection_options_check(const struct selection_options *options, struct error *error)
{
    if (options->has_end && options->to_ns <= options->from_ns)
        return error_set(error, ERROR_USAGE, "there is no time between --from and --to");
    return 0;
}
