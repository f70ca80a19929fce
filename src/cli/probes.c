// SPDX-License-Identifier: Apache-2.0
/* `beamflame probes`: the events of a VM, their probes, and the cost of a hit. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/code.h"
#include "beam/hooks.h"
#include "capture/calibration.h"
#include "capture/event_probes.h"
#include "capture/event_sites.h"
#include "cli/command.h"
#include "cli/message.h"
#include "os/usdt.h"
#include "util/alloc.h"

static const struct argp_option option_list[] = {
    {"pid", 'p', "PID", 0, "Of this Erlang VM", 1},
    {"event", 'e', "EVENT", 0,
     "Only this one, such as bif:NAME or probe:NAME; may be repeated (default: all without a name)",
     1},
    {0},
};

struct probes_options {
    pid_t pid;
    struct event_request events[EVENTS_MAX];
    int event_count;
};

static void add_event(struct argp_state *state, struct probes_options *options, const char *name)
{
    struct error error;

    if (options->event_count == EVENTS_MAX)
        argp_error(state, "at most %d events", EVENTS_MAX);
    if (event_request_parse(name, &options->events[options->event_count++], &error))
        argp_error(state, "%s", error.text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct probes_options *options = state->input;
    char *end;

    switch (key) {
    case 'p':
        options->pid = (pid_t)strtol(arg, &end, 10);
        if (*end || options->pid < 1)
            argp_error(state, "'%s' is no process id", arg);
        return 0;
    case 'e':
        add_event(state, options, arg);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not understood", arg);
        return 0;
    case ARGP_KEY_END:
        if (!options->pid)
            argp_error(state, "which VM? (-p PID)");
        if (!options->event_count)
            for (const char *const *name = event_kind_list(); *name; name++)
                add_event(state, options, *name);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- events ---- */

static const char *function_of(const struct event_site *site, const struct event_request *request)
{
    if (site->by == PLACE_BY_HOOK)
        return hook_function(site->hook);
    return site->symbol ? site->symbol : request->argument;
}

static void show_place(const struct event_place *place, int width,
                       const struct event_request *request, const struct calibration *calibration)
{
    const struct probe_site site = {
        .path = place->point.path,
        .file_offset = place->point.file_offset,
        .semaphore_offset = place->semaphore_offset,
        .is_return = place->site->is_return,
    };

    static const char *const traps[] = {
        [TRAP_EMULATED] = "emulated",
        [TRAP_NOP5] = "nop5",
        [TRAP_ENDBR] = "endbr",
        [TRAP_STEPPED] = "stepped",
    };

    printf("%-*s %-7s %-15s %-7s 0x%-8llx %7.0f ns  %-10s %s\n", width, request->name,
           site.is_return ? "return" : "entry", place->site->program, place->way,
           (unsigned long long)site.file_offset, calibration_hit_ns(calibration, &site, 1),
           traps[trap_of_site(&site)], function_of(place->site, request));
}

static void show_event(const struct event_target *target, int width,
                       const struct event_request *request, const struct calibration *calibration)
{
    struct event_places places;
    struct error error;

    if (event_sites_find(target, request, &places, &error)) {
        printf("%-*s refused: %s\n", width, request->name, error.text);
        return;
    }
    for (int i = 0; i < places.count; i++)
        show_place(&places.of[i], width, request, calibration);
}

static void show_events(const struct event_target *target, const struct probes_options *options,
                        const struct calibration *calibration)
{
    int width = 8;

    for (int i = 0; i < options->event_count; i++)
        if (width < (int)strlen(options->events[i].name))
            width = (int)strlen(options->events[i].name);
    printf("%-*s %-7s %-15s %-7s %-10s %8s  %-10s %s\n", width, "EVENT", "PROBE", "PROGRAM",
           "FOUND", "IN FILE AT", "A HIT", "TRAP", "FUNCTION");
    for (int i = 0; i < options->event_count; i++)
        show_event(target, width, &options->events[i], calibration);
}

/* ---- USDT ---- */

struct usdt_names {
    char *names[1024];
    int places[1024];
    int count;
};

static bool note_usdt(void *context, const struct usdt_probe *probe)
{
    struct usdt_names *all = context;
    char *name = xasprintf("%s:%s", probe->provider, probe->name);

    for (int i = 0; i < all->count; i++) {
        if (!strcmp(all->names[i], name)) {
            all->places[i]++;
            free(name);
            return true;
        }
    }
    if (all->count == 1024 || !strncmp(probe->name, "user_trace-n", 12)) {
        free(name); /* 950 probes, which the user's own programs fire */
        return true;
    }
    all->names[all->count] = name;
    all->places[all->count++] = 1;
    return true;
}

static void show_usdt(struct vm *vm)
{
    struct usdt_names all = {.count = 0};
    struct error ignored;
    struct elf_file *file = vm_executable(vm, &ignored);

    if (file)
        usdt_each(file, note_usdt, &all);
    printf("\n%d USDT probes%s\n", all.count,
           all.count ? " (-e usdt:NAME; with the number of their places):"
                     : ": this VM was built without them");
    for (int i = 0; i < all.count; i++) {
        printf("  %-40s %d\n", all.names[i], all.places[i]);
        free(all.names[i]);
    }
}

/* ---- the command ---- */

static int show(const struct probes_options *options, struct error *error)
{
    struct calibration calibration;
    struct event_target target;
    struct code *code;

    target.vm = vm_open(options->pid, error);
    if (!target.vm)
        return -1;
    code = code_new(target.vm, error);
    target.hooks = code ? hooks_new(target.vm, code, error) : NULL;
    if (!target.hooks || calibrate(&calibration, error)) {
        hooks_free(target.hooks);
        code_free(code);
        vm_close(target.vm);
        return -1;
    }
    target.way = calibration.way;
    show_events(&target, options, &calibration);
    printf("\nAny BIF, NIF or function of the VM: -e bif:MODULE:FUNCTION/ARITY, "
           "-e nif:MODULE:FUNCTION/ARITY, -e probe:SYMBOL[+OFFSET]\n");
    show_usdt(target.vm);
    hooks_free(target.hooks);
    code_free(code);
    vm_close(target.vm);
    return 0;
}

int command_probes(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_list,
        .parser = parse_option,
        .doc = "List the events that this VM offers, where their probes go, and what a hit costs "
               "on this machine.",
    };
    struct probes_options options = {0};
    struct error error;

    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return show(&options, &error) ? message_error(&error) : 0;
}
