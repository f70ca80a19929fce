// SPDX-License-Identifier: Apache-2.0
/* `beamflame dump`: the stacks of all Erlang processes of a VM at one moment. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/selection_argp.h"
#include "output/census_writers.h"
#include "output/number_text.h"
#include "profile/selection.h"
#include "session/census_take.h"
#include "session/targets.h"
#include "session/top_option.h"

struct dump_options {
    struct target_options target; /* the VM */
    struct census_request request;
    struct selection_options selection;
    const char *core, *executable; /* NULL: not given */
    bool json;
};

enum { KEY_CORE = 0x100, KEY_EXECUTABLE };

static const struct argp_option option_list[] = {
    {"pid", 'p', "PID", 0, "Of this Erlang VM (default: the only one)", 1},
    {"core", KEY_CORE, "FILE", 0, "Of the Erlang VM that this core file is of", 1},
    {"exe", KEY_EXECUTABLE, "FILE", 0,
     "Its executable, beam.smp, if it is not where it was (with --core)", 1},
    {"top", 't', "N[:METRIC[:SEC]]", 0,
     "Only the N processes with the largest METRIC: " TOP_METRICS
     " in SEC seconds (default +reductions, 1 second)",
     2},
    {"depth", 'n', "N", 0, "Only the N frames of each stack that are next to its leaf", 2},
    {"json", 'j', 0, 0, "Print one JSON object", 3},
    {0},
};

static long number(struct argp_state *state, const char *what, const char *text, long high)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end || value < 1 || value > high)
        argp_error(state, "%s must be a whole number from 1 to %ld, not '%s'", what, high, text);
    return value;
}

static void set_top(struct argp_state *state, struct top_option *top, char *text)
{
    struct error error;

    if (top_option_parse(text, top, &error))
        argp_error(state, "%s", error.text);
    if (top->seconds && !top->by_growth)
        argp_error(state, "a dump takes seconds for growth only (--top 5:+msgq:2)");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct dump_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        return 0;
    case 'p':
        options->target.pids[0] = (pid_t)number(state, "a process id", arg, 4194304);
        options->target.pid_count = 1;
        return 0;
    case KEY_CORE:
        options->core = arg;
        return 0;
    case KEY_EXECUTABLE:
        options->executable = arg;
        return 0;
    case 't':
        set_top(state, &options->request.top, arg);
        return 0;
    case 'n':
        options->request.depth = (uint32_t)number(state, "the depth", arg, CENSUS_DEPTH_MAX);
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not understood", arg);
        return 0;
    case ARGP_KEY_END:
        if (options->selection.from_ns || options->selection.has_end)
            argp_error(state, "a dump is of one moment: --from and --to are for recordings");
        if (options->core && options->target.pid_count)
            argp_error(state, "a dump is of one VM: --core FILE or --pid PID");
        if (options->core && options->request.top.by_growth)
            argp_error(state, "a core is of one moment, in which nothing grows: --top N:METRIC, "
                              "without +");
        if (options->executable && !options->core)
            argp_error(state, "--exe FILE goes with --core FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Keep the selected processes. */
static int select_processes(struct census *census, const struct selection_options *options,
                            struct error *error)
{
    const struct view_options by_name = {.grouping = {{GROUP_NAME}}};
    struct view *view = view_new(census->profile, &by_name);
    struct selection *selection = selection_new(options, census->profile, view, 0);
    size_t had = census->count;

    census_keep(census, selection);
    selection_free(selection);
    view_free(view);
    if (had && !census->count)
        return error_set(error, ERROR_NO_SAMPLES, "none of the %zu processes is asked for", had);
    return 0;
}

static int dump(struct vm *vm, const struct dump_options *options, struct error *error)
{
    struct profile *profile = profile_new();
    struct census census = {0};
    struct error sampling;
    int result = census_take(vm, &options->request, profile, &census, &sampling, error);

    if (!result && sampling.code)
        message_warning("processes that run can't be sampled: %s", sampling.text);
    if (!result)
        result = select_processes(&census, &options->selection, error);
    if (!result)
        (options->json ? census_write_json : census_write_text)(stdout, &census);
    if (!result && fflush(stdout))
        result = error_set(error, ERROR_FAILED, "can't write the dump: %s", strerror(errno));
    census_free(&census);
    profile_free(profile);
    return result;
}

static int dump_live(const struct dump_options *options, struct error *error)
{
    static const volatile int never;
    struct targets targets;
    int result;

    if (targets_open(&options->target, &never, &targets, error))
        return -1;
    result = dump(targets.vms[0], options, error);
    targets_close(&targets);
    return result;
}

static int dump_core(const struct dump_options *options, struct error *error)
{
    struct vm *vm = vm_open_core(options->core, options->executable, error);
    int result;

    if (!vm)
        return -1;
    if (vm->core->missing)
        message_warning("the core is cut short: %s of it are there, %s are missing",
                        amount_text(vm->core->size, UNIT_BYTES).text,
                        amount_text(vm->core->missing, UNIT_BYTES).text);
    result = dump(vm, options, error);
    vm_close(vm);
    return result;
}

int command_dump(int argc, char **argv)
{
    static const struct argp_child children[] = {{&selection_argp, 0, "Only processes:", 20}, {0}};
    static const struct argp argp = {
        .options = option_list,
        .parser = parse_option,
        .children = children,
        .doc = "Show the stacks of all Erlang processes of a VM, as they are now, or as a core "
               "file has "
               "them: by equal stacks and status.",
    };
    struct dump_options options = {.target.warn = message_warning};
    struct error error;
    int result;

    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    result = options.core ? dump_core(&options, &error) : dump_live(&options, &error);
    selection_options_free(&options.selection);
    return result ? message_error(&error) : 0;
}
