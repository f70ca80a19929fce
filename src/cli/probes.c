// SPDX-License-Identifier: Apache-2.0
/* `beamflame probes`: the events of a VM, their probes, and the cost of a hit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/code.h"
#include "capture/calibration.h"
#include "capture/event_probes.h"
#include "capture/event_sites.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/verbose.h"
#include "hooks/hooks.h"
#include "native/usdt.h"
#include "os/child.h"
#include "os/privileges.h"
#include "profile/events.h"
#include "session/options.h"
#include "session/targets.h"
#include "util/alloc.h"
#include "util/span.h"

struct probes_options {
    struct target_options target; /* the VM */
    pid_t pid;                    /* of -p */
    struct event_request events[EVENTS_MAX];
    int event_count;
};

/* The last one counts. */
static int set_pid(void *target, char *text, struct error *error)
{
    struct probes_options *options = target;

    options->target.pids = &options->pid;
    options->target.pid_count = 1;
    return option_pid(text, &options->pid, error);
}

static int add_event(void *target, char *name, struct error *error)
{
    struct probes_options *options = target;

    if (options->event_count == EVENTS_MAX)
        return error_set(error, ERROR_USAGE, "at most %d events can be listed at once", EVENTS_MAX);
    if (!strcmp(name, "cpu") || !strcmp(name, EVENT_WALL))
        return error_set(error, ERROR_USAGE,
                         "event '%s' has no probes; the events with probes are: %s", name,
                         event_kind_names());
    if (begins_with(name, EVENT_CALL))
        return error_set(error, ERROR_USAGE,
                         "event '%s' has no probes, but breakpoints: see 'beamflame calls'", name);
    return event_kinds_parse_request(name, session_options_event_names(),
                                     &options->events[options->event_count++], error);
}

static const struct command_option option_list[] = {
    {"pid", 'p', "PID",
     "Examine the VM with this process id. The default is the only VM of the host.", set_pid, NULL},
    {"event", 'e', "EVENT",
     "List only this event. May be repeated. The default is every event that needs no argument.",
     add_event, event_kind_names},
    {0},
};

static int check(void *target, struct error *error)
{
    struct probes_options *options = target;

    if (options->event_count)
        return 0;
    for (const char *const *name = event_kind_list(); *name; name++)
        if (event_kinds_parse_request(*name, event_kind_names(),
                                      &options->events[options->event_count++], error))
            return -1;
    return 0;
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
        .trap = place->point.trap,
    };

    message_print("%-*s %-7s %-15s %-7s 0x%-8llx %7.0f ns  %-10s %s", width, request->name,
                  site.is_return ? "return" : "entry", place->site->program, place->way,
                  (unsigned long long)site.file_offset, calibration_hit_ns(calibration, &site, 1),
                  trap_names[site.trap], function_of(place->site, request));
}

static void show_event(const struct event_target *target, int width,
                       const struct event_request *request, const struct calibration *calibration)
{
    struct event_places places;
    struct error error;

    if (event_sites_find(target, request, &places, &error)) {
        message_print("%-*s refused: %s", width, request->name, error.text);
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
    message_print("%-*s %-7s %-15s %-7s %-10s %8s  %-10s %s", width, "EVENT", "PROBE", "PROGRAM",
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
    message_print("%s", "");
    message_print("%d USDT probes%s", all.count,
                  all.count ? " (-e usdt:NAME), each with its number of places:"
                            : ": this VM was built without them");
    for (int i = 0; i < all.count; i++) {
        message_print("  %-40s %d", all.names[i], all.places[i]);
        free(all.names[i]);
    }
}

/* ---- the command ---- */

static int show_vm(struct vm *vm, const struct probes_options *options, struct error *error)
{
    struct calibration calibration;
    struct code *code = code_new(vm, error);
    struct event_target target = {.vm = vm, .hooks = code ? hooks_new(vm, code, error) : NULL};
    int result = target.hooks ? calibrate(&calibration, error) : -1;

    if (!result) {
        target.way = calibration.way;
        show_events(&target, options, &calibration);
        message_print("%s", "");
        message_print(
            "Calls of any BIF, NIF or function of the VM: -e bif:MODULE:FUNCTION/ARITY, -e "
            "nif:MODULE:FUNCTION/ARITY, -e probe:SYMBOL[+OFFSET]");
        show_usdt(vm);
    }
    hooks_free(target.hooks);
    code_free(code);
    return result;
}

static int show(const struct probes_options *options, struct error *error)
{
    struct targets targets;
    int result;

    if (child_check_room(error) || targets_open(&options->target, &targets, error))
        return -1;
    result = show_vm(targets.of[0]->vm, options, error);
    targets_close(&targets);
    return result;
}

static int run(int argc, char **argv)
{
    struct probes_options options = {.target = {.one = true, .warn = message_warning}};
    struct error error;
    int result;

    if (!command_line_parse(&probes_command, argc, argv, &options, &result))
        return result;
    privileges_observe();
    return show(&options, &error) ? message_error(&error) : message_finish("the events");
}

static const struct option_group groups[] = {
    {"Options", option_list, 0},
    {"", local_symbols_option_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list,
     offsetof(struct probes_options, target.assumed_release)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command probes_command = {
    .name = "probes",
    .summary = "list the events that a VM offers, and what a hit costs",
    .description = "List the events that a VM offers, where their probes go, and what a hit costs "
                   "on this machine.",
    .groups = groups,
    .examples = "beamflame probes -p PID\n"
                "beamflame probes -p PID -e bif:erlang:term_to_binary/2\n",
    .check = check,
    .run = run,
};
