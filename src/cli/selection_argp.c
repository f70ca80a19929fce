// SPDX-License-Identifier: Apache-2.0
#include "cli/selection_argp.h"

#include <math.h>
#include <stdlib.h>

#include "profile/selection.h"

enum {
    OPTION_STATUS = 512,
    OPTION_PROCESS,
    OPTION_CHILDREN,
    OPTION_DESCENDANTS,
    OPTION_FROM,
    OPTION_TO
};

static const struct argp_option option_list[] = {
    {"include", 'I', "REGEX", 0,
     "With a frame (root frames too) that matches this extended regular expression; may be "
     "repeated: any of them",
     20},
    {"exclude", 'X', "REGEX", 0, "Without a frame that matches; may be repeated: none of them", 20},
    {"status", OPTION_STATUS, "STATUS,...", 0,
     "Of processes that are running, runnable, waiting, suspended, exiting, garbage_collecting or "
     "free",
     20},
    {"process", OPTION_PROCESS, "WHO", 0,
     "Of this process: its pid (<0.N.S>), registered name, label or initial call (m:f/a), or the "
     "module of that (m:_); may be repeated",
     20},
    {"children-of", OPTION_CHILDREN, "WHO", 0,
     "Of processes whose parent this is, by who spawned them or the first of their $ancestors; may "
     "be repeated",
     20},
    {"descendants-of", OPTION_DESCENDANTS, "WHO", 0,
     "Of processes that have it above them, in the same ways; may be repeated", 20},
    {"from", OPTION_FROM, "SEC", 0, "From so many seconds after the recording's start", 20},
    {"to", OPTION_TO, "SEC", 0, "Until before so many seconds after it", 20},
    {0},
};

static uint64_t nanoseconds(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        argp_error(state, "%s needs a number of seconds, not '%s'", option, text);
    return (uint64_t)(seconds * 1e9);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct selection_options *options = state->input;
    struct error error;
    int result = 0;

    switch (key) {
    case 'I':
        result = selection_add_pattern(&options->include, arg, &error);
        break;
    case 'X':
        result = selection_add_pattern(&options->exclude, arg, &error);
        break;
    case OPTION_STATUS:
        result = selection_add_statuses(options, arg, &error);
        break;
    case OPTION_PROCESS:
        result = selection_add_process(&options->processes, arg, &error);
        break;
    case OPTION_CHILDREN:
        result = selection_add_process(&options->children_of, arg, &error);
        break;
    case OPTION_DESCENDANTS:
        result = selection_add_process(&options->descendants_of, arg, &error);
        break;
    case OPTION_FROM:
        options->from_ns = nanoseconds(state, "--from", arg);
        break;
    case OPTION_TO:
        options->to_ns = nanoseconds(state, "--to", arg);
        options->has_end = true;
        break;
    case ARGP_KEY_END:
        if (options->has_end && options->to_ns <= options->from_ns)
            argp_error(state, "between --from and --to there is no time");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (result)
        argp_error(state, "%s", error.text);
    return 0;
}

const struct argp selection_argp = {.options = option_list, .parser = parse};
