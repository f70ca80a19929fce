// SPDX-License-Identifier: Apache-2.0
/* Finds the places in a target's code for the probes of an event. */
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
    const char *way; /* how the place was found: "symbol", "caller", ..., "USDT" */
    struct probe_point point;
    uint64_t semaphore_offset; /* in the file; 0: none */
};

struct event_places {
    struct event_place of[EVENT_PLACES_MAX];
    int count;
};

/* Find the places of an event. ERROR_UNSUPPORTED if a place that the event needs is not found; the
 * text says how it was searched for. */
int event_sites_find(const struct event_target *target, const struct event_request *request,
                     struct event_places *places, struct error *error);

/* Parse "erlang:md5/1". Return false if the text has another form. */
struct event_function {
    char module[256], name[256];
    uint32_t arity;
};
bool event_sites_parse_function(const char *text, struct event_function *function);
