// SPDX-License-Identifier: Apache-2.0
/* Where in the code of a target the probes of an event go. */
#pragma once

#include "capture/event_kinds.h"
#include "capture/probe_link.h"

enum { EVENT_PLACES_MAX = 32 };

struct event_target {
    struct vm *vm;
    struct hooks *hooks;
    enum probe_way way;
};

struct event_place {
    const struct event_site *site;
    const char *way; /* how it was found: "symbol", "caller", ..., "USDT" */
    struct probe_point point;
    uint64_t semaphore_offset; /* in the file; 0: none */
};

struct event_places {
    struct event_place of[EVENT_PLACES_MAX];
    int count;
};

/* ERROR_UNSUPPORTED, and what was looked for, where a place that the event can't do without is not
 * found. */
int event_sites_find(const struct event_target *target, const struct event_request *request,
                     struct event_places *places, struct error *error);

/* "erlang:md5/1"; false if the text is not of that form. */
struct event_function {
    char module[256], name[256];
    uint32_t arity;
};
bool event_function_parse(const char *text, struct event_function *function);
