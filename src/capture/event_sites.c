// SPDX-License-Identifier: Apache-2.0
#include "capture/event_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe_safety.h"
#include "native/native_code.h"
#include "native/usdt.h"
#include "util/log.h"

bool event_sites_parse_function(const char *text, struct event_function *function)
{
    char end;

    return sscanf(text, "%255[^:]:%255[^/]/%3u%c", function->module, function->name,
                  &function->arity, &end) == 3;
}

static int too_many(const struct event_request *request, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED, "%s has more than %d places", request->name,
                     EVENT_PLACES_MAX);
}

/* ---- by address ---- */

/* Find "erts_schedule", or the place "erts_schedule+0x24", where an instruction must begin. */
static int find_symbol(const struct event_target *target, const char *text,
                       struct hook_point *point, struct error *error)
{
    const char *plus = strrchr(text, '+');
    struct elf_file *file;
    uint64_t offset;
    char name[512], *end;

    if (!plus)
        return hooks_symbol(target->hooks, text, point, error);
    offset = strtoull(plus + 1, &end, 0);
    if (end == plus + 1 || *end)
        return error_set(error, ERROR_USAGE, "'%s' is not an offset", plus + 1);
    snprintf(name, sizeof(name), "%.*s", (int)(plus - text), text);
    file = vm_executable(target->vm, error);
    if (!file || hooks_symbol(target->hooks, name, point, error))
        return -1;
    if (!native_code_instruction_begins_at(file, point->address, point->address + offset))
        return error_set(error, ERROR_UNSUPPORTED, "no instruction of %s begins at +%s", name,
                         plus + 1);
    point->address += offset;
    return 0;
}

static int find_address(const struct event_target *target, const struct event_request *request,
                        const struct event_site *site, struct hook_point *point,
                        struct error *error)
{
    struct event_function function;

    switch (site->by) {
    case PLACE_BY_HOOK:
        return hooks_find(target->hooks, site->hook, point, error);
    case PLACE_BY_SYMBOL:
        return find_symbol(target, site->symbol ? site->symbol : request->argument, point, error);
    case PLACE_BY_BIF:
    case PLACE_BY_NIF:
        break;
    case PLACE_BY_USDT:
        return error_set(error, ERROR_FAILED,
                         "a USDT probe can have several addresses, so it takes no offset");
    }
    if (!event_sites_parse_function(request->argument, &function))
        return error_set(error, ERROR_USAGE, "'%s' is not a function", request->argument);
    return (site->by == PLACE_BY_BIF ? hooks_bif : hooks_nif)(
        target->hooks, function.module, function.name, function.arity, point, error);
}

/* Find the point of a probe. Where a nop of five bytes can't have a probe, try for an equivalent
 * point elsewhere. */
static int find_point(const struct event_target *target, uint64_t address,
                      const struct event_site *site, struct probe_point *point, struct error *error)
{
    struct probe_needs needs = {.arguments = site->arguments, .stack = site->is_return};

    if (probe_link_point_for(target->vm->mappings, address, &needs, point, error))
        return -1;
    if (probe_safety_check_nop5(target->way, point, error) == 0)
        return 0;
    needs.no_nop5 = true;
    if (probe_link_point_for(target->vm->mappings, address, &needs, point, error))
        return -1;
    return probe_safety_check_nop5(target->way, point, error);
}

static int add_address(const struct event_target *target, const struct event_request *request,
                       const struct event_site *site, struct event_places *places,
                       struct error *error)
{
    struct event_place place = {.site = site};
    struct hook_point point = {0};

    if (find_address(target, request, site, &point, error) ||
        find_point(target, point.address, site, &place.point, error)) {
        if (site->is_optional)
            log_decision("probes", "%s in process %d: %s is left out: %s", request->name,
                         (int)target->vm->pid, site->program, error->text);
        return site->is_optional ? 0 : -1;
    }
    if (places->count == EVENT_PLACES_MAX)
        return too_many(request, error);
    place.way = hook_method_name(point.way);
    places->of[places->count++] = place;
    return 0;
}

/* ---- USDT ---- */

struct usdt_search {
    const struct event_request *request;
    const struct event_site *site;
    struct elf_file *file;
    struct event_places *places;
    enum probe_way way;
    int result;
    struct error *error;
};

/* True if the probe has this name: "message-send", or "erlang:message-send". */
static bool is_named(const struct usdt_probe *probe, const char *name)
{
    size_t size = strlen(probe->provider);

    if (!strncmp(name, probe->provider, size) && name[size] == ':')
        name += size + 1;
    return !strcmp(name, probe->name);
}

static bool add_usdt(void *context, const struct usdt_probe *probe)
{
    struct usdt_search *search = context;
    struct event_place place = {
        .site = search->site,
        .way = "USDT",
        .semaphore_offset = probe->semaphore_offset,
    };

    if (!is_named(probe, search->request->argument))
        return true;
    place.point = probe_link_point_in(search->file, probe->file_offset);
    if (search->places->count == EVENT_PLACES_MAX)
        search->result = too_many(search->request, search->error);
    else
        search->result = probe_safety_check_nop5(search->way, &place.point, search->error);
    if (search->result == 0)
        search->places->of[search->places->count++] = place;
    return search->result == 0;
}

static int add_usdt_places(const struct event_target *target, const struct event_request *request,
                           const struct event_site *site, struct event_places *places,
                           struct error *error)
{
    struct elf_file *file = vm_executable(target->vm, error);
    struct usdt_search search = {
        .request = request,
        .site = site,
        .file = file,
        .places = places,
        .way = target->way,
        .error = error,
    };

    if (!file)
        return -1;
    usdt_each(file, add_usdt, &search);
    if (search.result)
        return -1;
    if (!places->count)
        return error_set(
            error, ERROR_UNSUPPORTED,
            "this VM has no USDT probe '%s'; 'beamflame probes -p %d' lists those that it has",
            request->argument, (int)target->vm->pid);
    return 0;
}

static bool applies(const struct event_target *target, const struct event_site *site)
{
    struct hook_point point;
    struct error ignored;

    if (site->condition == SITE_ALWAYS)
        return true;
    if (site->condition == SITE_UNBUFFERED_PROCESS_INFO)
        return target->vm->features.unbuffered_process_info;
    return (hooks_find(target->hooks, site->other, &point, &ignored) == 0) ==
           (site->condition == SITE_WITH);
}

static int find_all(const struct event_target *target, const struct event_request *request,
                    struct event_places *places, struct error *error)
{
    for (int i = 0; i < request->kind->site_count; i++) {
        const struct event_site *site = &request->kind->sites[i];
        int result = 0;

        if (site->by == PLACE_BY_USDT)
            result = add_usdt_places(target, request, site, places, error);
        else if (applies(target, site))
            result = add_address(target, request, site, places, error);
        if (result)
            return -1;
    }
    return 0;
}

static void say_places(const struct event_target *target, const struct event_request *request,
                       const struct event_places *places)
{
    for (int i = 0; i < places->count; i++) {
        const struct event_place *place = &places->of[i];

        log_write("probes", "%s in process %d: %s at %s 0x%llx of its file (found by %s), by %s",
                  request->name, (int)target->vm->pid, place->site->program,
                  place->site->is_return ? "the return of the function at" : "offset",
                  (unsigned long long)place->point.file_offset, place->way,
                  probe_link_way_name(target->way));
    }
}

int event_sites_find(const struct event_target *target, const struct event_request *request,
                     struct event_places *places, struct error *error)
{
    int result;

    places->count = 0;
    result = find_all(target, request, places, error);
    if (result)
        log_decision("probes", "%s is refused in process %d: %s", request->name,
                     (int)target->vm->pid, error->text);
    else if (log_wants(LOG_DECISION))
        say_places(target, request, places);
    return result;
}
