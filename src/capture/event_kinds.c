// SPDX-License-Identifier: Apache-2.0
#include "capture/event_kinds.h"

#include <stdio.h>
#include <string.h>

#include "wire.h"

static const struct event_kind kinds[] = {
    {
        .name = "gc", /* bpf/gc.bpf.c */
        .sites =
            {
                {PLACE_HOOK, HOOK_GC, "gc_begin"},
                {PLACE_HOOK, HOOK_GC, "gc_end", .is_return = true, .kind = WIRE_GC_MINOR},
                {PLACE_HOOK, HOOK_GC_HIBERNATE, "gc_begin", .is_optional = true},
                {PLACE_HOOK, HOOK_GC_HIBERNATE, "gc_end", .is_return = true, .is_optional = true,
                 .kind = WIRE_GC_HIBERNATE},
            },
        .site_count = 4,
        .histograms =
            {
                [WIRE_GC_MINOR] = {"pause, minor", UNIT_NS},
                [WIRE_GC_MAJOR] = {"pause, major", UNIT_NS},
                [WIRE_GC_HIBERNATE] = {"pause, hibernate", UNIT_NS},
                [WIRE_GC_DIRTY_MINOR] = {"pause, minor on a dirty scheduler", UNIT_NS},
                [WIRE_GC_DIRTY_MAJOR] = {"pause, major on a dirty scheduler", UNIT_NS},
            },
        .histogram_count = WIRE_GC_KINDS,
    },
    {
        .name = "alloc", /* bpf/gc.bpf.c */
        .sites =
            {
                {PLACE_HOOK, HOOK_GC, "alloc_begin"},
                {PLACE_HOOK, HOOK_GC, "alloc_end", .is_return = true},
                {PLACE_HOOK, HOOK_GC_HIBERNATE, "alloc_begin", .is_optional = true},
            },
        .site_count = 3,
    },
    {
        .name = "msg", /* bpf/message.bpf.c */
        .sites =
            {
                {PLACE_HOOK, HOOK_SEND, "message_send"},
                {PLACE_HOOK, HOOK_SEND_MANY, "message_send_many", .is_optional = true},
                {PLACE_HOOK, HOOK_RECEIVE, "message_receive", .is_optional = true},
                {PLACE_HOOK, HOOK_COPY, "message_copy", .is_optional = true},
            },
        .site_count = 4,
        .histograms =
            {
                [WIRE_MSG_DELAY] = {"time in the queue", UNIT_NS},
                [WIRE_MSG_WORDS] = {"words copied", UNIT_WORDS},
            },
        .histogram_count = WIRE_MSG_HISTOGRAMS,
    },
    {
        .name = "bif:", /* bpf/call.bpf.c */
        .sites = {{PLACE_BIF, .program = "call_begin"},
                  {PLACE_BIF, .program = "call_end", .is_return = true}},
        .site_count = 2,
        .histograms = {{"time", UNIT_NS}},
        .histogram_count = 1,
    },
    {
        .name = "nif:",
        .sites = {{PLACE_NIF, .program = "call_begin"},
                  {PLACE_NIF, .program = "call_end", .is_return = true}},
        .site_count = 2,
        .histograms = {{"time", UNIT_NS}},
        .histogram_count = 1,
    },
    {
        .name = "probe:",
        .sites = {{PLACE_SYMBOL, .program = "call_begin"},
                  {PLACE_SYMBOL, .program = "call_end", .is_return = true}},
        .site_count = 2,
        .histograms = {{"time", UNIT_NS}},
        .histogram_count = 1,
    },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct event_function {
    char module[256], name[256];
    uint32_t arity;
};

/* "erlang:md5/1". */
static bool parse_function(const char *text, struct event_function *function)
{
    char end;

    return sscanf(text, "%255[^:]:%255[^/]/%3u%c", function->module, function->name,
                  &function->arity, &end) == 3;
}

static bool is_of_kind(const char *name, const struct event_kind *kind)
{
    size_t size = strlen(kind->name);

    if (kind->name[size - 1] == ':')
        return !strncmp(name, kind->name, size);
    return !strcmp(name, kind->name);
}

int event_request_parse(const char *name, struct event_request *request, struct error *error)
{
    struct event_function function;

    for (int i = 0; i < KINDS; i++) {
        const struct event_kind *kind = &kinds[i];
        enum event_place place = kind->sites[0].place;

        if (!is_of_kind(name, kind))
            continue;
        *request = (struct event_request){name, kind, name + strlen(kind->name)};
        if ((place == PLACE_BIF || place == PLACE_NIF) &&
            !parse_function(request->argument, &function))
            return error_set(error, ERROR_USAGE,
                             "'%s' needs a function after it, as in %serlang:md5/1", name,
                             kind->name);
        if (place == PLACE_SYMBOL && !request->argument[0])
            return error_set(error, ERROR_USAGE,
                             "'%s' needs a function of the VM after it, as in probe:erts_schedule",
                             name);
        return 0;
    }
    return error_set(error, ERROR_USAGE, "there is no event '%s'; there are: cpu, %s", name,
                     event_kind_names());
}

int event_place(struct hooks *hooks, const struct event_request *request,
                const struct event_site *site, struct hook_point *point, struct error *error)
{
    struct event_function function = {0};

    parse_function(request->argument, &function);
    switch (site->place) {
    case PLACE_HOOK:
        return hooks_find(hooks, site->hook, point, error);
    case PLACE_BIF:
        return hooks_bif(hooks, function.module, function.name, function.arity, point, error);
    case PLACE_NIF:
        return hooks_nif(hooks, function.module, function.name, function.arity, point, error);
    case PLACE_SYMBOL:
        return hooks_symbol(hooks, request->argument, point, error);
    }
    return -1;
}

const char *event_kind_names(void)
{
    return "gc, alloc, msg, bif:MODULE:FUNCTION/ARITY, nif:MODULE:FUNCTION/ARITY, probe:SYMBOL";
}
