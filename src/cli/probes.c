// SPDX-License-Identifier: Apache-2.0
/* beamflame probes: what can be probed in a VM, how, and what a hit costs. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/code.h"
#include "beam/hooks.h"
#include "capture/calibration.h"
#include "capture/event_sites.h"
#include "cli/command.h"
#include "cli/message.h"
#include "os/usdt.h"
#include "util/alloc.h"

static const struct argp_option option_list[] = {
    {"pid", 'p', "PID", 0, "Of this Erlang VM", 1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    pid_t *pid = state->input;
    char *end;

    switch (key) {
    case 'p':
        *pid = (pid_t)strtol(arg, &end, 10);
        if (*end || *pid < 1)
            argp_error(state, "'%s' is no process id", arg);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not understood", arg);
        return 0;
    case ARGP_KEY_END:
        if (!*pid)
            argp_error(state, "which VM? (-p PID)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- events ---- */

static void show_place(const struct event_place *place, const char *event,
                       const struct calibration *calibration)
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

    printf("%-8s %-7s %-7s 0x%-8llx %7.0f ns  %-10s %s\n", event,
           site.is_return ? "return" : "entry", place->way, (unsigned long long)site.file_offset,
           calibration_hit_ns(calibration, &site, 1), traps[trap_of_site(&site)],
           place->site->by == PLACE_BY_HOOK ? hook_function(place->site->hook)
                                            : place->site->symbol);
}

static void show_event(const struct event_target *target, const char *name,
                       const struct calibration *calibration)
{
    struct event_request request;
    struct event_places places;
    struct error error;

    if (event_request_parse(name, &request, &error) ||
        event_sites_find(target, &request, &places, &error)) {
        printf("%-8s refused: %s\n", name, error.text);
        return;
    }
    for (int i = 0; i < places.count; i++)
        show_place(&places.of[i], name, calibration);
}

static void show_events(const struct event_target *target, const struct calibration *calibration)
{
    printf("%-8s %-7s %-7s %-10s %8s  %-10s %s\n", "EVENT", "PROBE", "FOUND", "IN FILE AT", "A HIT",
           "TRAP", "FUNCTION");
    for (const char *const *name = event_kind_list(); *name; name++)
        show_event(target, *name, calibration);
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
        free(name); /* 950 of them: what a program of the user may fire */
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

/* ---- all ---- */

static int show(pid_t pid, struct error *error)
{
    struct calibration calibration;
    struct event_target target;
    struct code *code;

    target.vm = vm_open(pid, error);
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
    show_events(&target, &calibration);
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
    struct error error;
    pid_t pid = 0;

    argp_err_exit_status = ERROR_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &pid);
    return show(pid, &error) ? message_error(&error) : 0;
}
