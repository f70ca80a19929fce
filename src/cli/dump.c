// SPDX-License-Identifier: Apache-2.0
/* `beamflame dump`: the Erlang processes, with their stacks, the ETS tables, the ports and the
 * memory of a VM at one moment. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/verbose.h"
#include "os/child.h"
#include "os/privileges.h"
#include "os/process.h"
#include "output/dump/writers.h"
#include "output/number_text.h"
#include "session/dump_take.h"
#include "session/options.h"
#include "session/targets.h"
#include "view/selection.h"

struct dump_options {
    struct target_options target; /* the VM */
    pid_t pid;                    /* of -p */
    struct dump_request request;
    struct selection_options selection;
    const char *core, *executable; /* NULL: not given */
    bool json, no_pager;
};

/* ---- options ---- */

/* The last one counts. */
static int set_pid(void *target, char *text, struct error *error)
{
    struct dump_options *options = target;

    options->target.pids = &options->pid;
    options->target.pid_count = 1;
    return option_pid(text, &options->pid, error);
}

static int set_top(void *target, char *text, struct error *error)
{
    struct top_option *top = &((struct dump_options *)target)->request.top;

    if (session_options_parse_top(text, top, error))
        return -1;
    if (top->seconds && !top->by_growth)
        return error_set(error, ERROR_USAGE,
                         "a dump takes seconds for growth only (--top 5:+msgq:2)");
    return 0;
}

static int set_sections(void *sections, char *text, struct error *error)
{
    return dump_sections_parse(text, DUMP_ALL, sections, error);
}

static int set_depth(void *target, char *text, struct error *error)
{
    long value;

    if (option_number("the depth", text, 1, DUMP_DEPTH_MAX, &value, error))
        return -1;
    ((struct dump_options *)target)->request.depth = (uint32_t)value;
    return 0;
}

static const struct command_option option_list[] = {
    {"pid", 'p', "PID", "Dump the VM with this process id. The default is the only VM of the host.",
     set_pid, NULL},
    {"core", 0, "FILE", "Dump the VM that left this core file.", option_set_text, NULL,
     offsetof(struct dump_options, core)},
    {"exe", 0, "FILE", "Use this beam.smp with --core, if it is not where the core file says.",
     option_set_text, NULL, offsetof(struct dump_options, executable)},
    {"list", 'l', "LIST",
     "Show these sections only. Separate several by commas. The default is all.", set_sections,
     dump_section_names, offsetof(struct dump_options, request.sections)},
    {"top", 't', "N[:METRIC[:SEC]]",
     "Show only the N processes with the largest METRIC: " STRUCT_METRICS
     ". Put + before METRIC to use its growth in SEC seconds: +msgq. The default is +reductions in "
     "1 second.",
     set_top, NULL},
    {"depth", 'n', "N", "Show only the N youngest frames of each stack.", set_depth, NULL},
    {"json", 'j', NULL, "Print one JSON object.", option_set_true, NULL,
     offsetof(struct dump_options, json)},
    {0},
};

static int check(void *target, struct error *error)
{
    const struct dump_options *options = target;

    if (options->core && options->target.pid_count)
        return error_set(error, ERROR_USAGE, "give --core or --pid, not both");
    if (options->core && options->request.top.by_growth)
        return error_set(error, ERROR_USAGE,
                         "nothing grows in a core file: use --top N:METRIC, without +");
    if (options->executable && !options->core)
        return error_set(error, ERROR_USAGE, "--exe needs --core");
    return 0;
}

/* ---- the dump ---- */

/* Keep the selected processes. */
static int select_processes(struct dump *dump, const struct selection_options *options,
                            struct error *error)
{
    const struct view_options by_name = {.grouping = {{GROUP_NAME}}};
    struct view *view = view_new(dump->profile, &by_name);
    struct selection *selection = selection_new(options, dump->profile, view, 0);
    struct buffer unmatched = {0};
    size_t had = dump->count;

    selection_keep_processes(selection, dump);
    selection_log(selection, "processes");
    selection_free(selection);
    view_free(view);
    if (had && !dump->count)
        return suggestion_nothing_selected(options, dump->profile, had, "processes", error);
    suggestion_find_names(options, dump->profile, &unmatched);
    if (unmatched.size)
        message_warning("%.*s", (int)unmatched.size, unmatched.data);
    buffer_free(&unmatched);
    return 0;
}

static int dump(struct vm *vm, const struct dump_options *options, struct error *error)
{
    struct profile *profile = profile_new();
    struct dump dump = {0};
    struct error sampling;
    int result = dump_take(vm, &options->request, profile, &dump, &sampling, error);

    if (!result && sampling.code)
        message_warning("running processes can't be sampled: %s", sampling.text);
    if (!result && vm->core)
        result = core_file_check(vm->core, error);
    if (!result)
        result = select_processes(&dump, &options->selection, error);
    if (!result)
        (options->json ? dump_write_json : dump_write_text)(stdout, &dump);
    if (!result)
        result = message_end("the dump", error);
    dump_free(&dump);
    profile_free(profile);
    return result;
}

static int dump_live(const struct dump_options *options, struct error *error)
{
    struct targets targets;
    int result;

    if (child_check_room(error) || targets_open(&options->target, &targets, error))
        return -1;
    if (process_is_stopped(targets.of[0]->vm->pid))
        message_warning(PROCESS_IS_STOPPED, (int)targets.of[0]->vm->pid);
    result = dump(targets.of[0]->vm, options, error);
    targets_close(&targets);
    return result;
}

static int dump_core(const struct dump_options *options, struct error *error)
{
    struct vm *vm =
        vm_core_open(options->core, options->executable, options->target.assumed_release, error);
    int result;

    if (!vm)
        return -1;
    shared_options_warn_release(vm);
    if (vm->core->missing)
        message_warning("the core file is incomplete: %s are there, %s are missing",
                        number_text_amount(vm->core->size, UNIT_BYTES).text,
                        number_text_amount(vm->core->missing, UNIT_BYTES).text);
    result = dump(vm, options, error);
    vm_close(vm);
    return result;
}

static int run(int argc, char **argv)
{
    struct dump_options options = {.target = {.one = true, .warn = message_warning},
                                   .request.sections = DUMP_ALL};
    struct pager pager;
    struct error error;
    int result;

    if (command_line_parse(&dump_command, argc, argv, &options, &result)) {
        pager_begin(&pager, options.no_pager);
        if (options.core)
            privileges_read_files(); /* libraries of the core can be anywhere */
        else
            privileges_observe();
        result = options.core ? dump_core(&options, &error) : dump_live(&options, &error);
        if (result)
            result = message_error(&error);
        result = pager_end(&pager, result);
    }
    selection_options_free(&options.selection);
    return result;
}

static const struct option_group groups[] = {
    {"What to dump", option_list, 0},
    {"", pager_option_list, offsetof(struct dump_options, no_pager)},
    {"", name_option_list, offsetof(struct dump_options, request.name_keys)},
    {"", local_symbols_option_list, 0},
    {"", inline_option_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list,
     offsetof(struct dump_options, target.assumed_release)},
    {"Which processes to show", selection_option_list, offsetof(struct dump_options, selection)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command dump_command = {
    .name = "dump",
    .summary =
        "show processes with their stacks, ETS tables, ports and memory, now or in a core file",
    .description =
        "Show all Erlang processes of a VM with their stacks, its ETS tables by memory, its ports "
        "and sockets by queue, and what its allocators hold, now or in a core file. Processes with "
        "equal stack and status form a group. The VM is not stopped and does not have to answer.",
    .groups = groups,
    .examples = "beamflame dump -p PID\n"
                "beamflame dump -p PID --top 20:msgq   # the longest message queues\n"
                "beamflame dump -p PID --list tables   # the largest ETS tables\n"
                "beamflame dump -p PID --list memory   # allocators, and how full tables are\n"
                "beamflame dump -p PID --list ports    # the longest queues of ports and sockets\n"
                "beamflame dump --core core.1234       # a VM that crashed\n",
    .check = check,
    .run = run,
};
