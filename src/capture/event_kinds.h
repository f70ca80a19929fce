// SPDX-License-Identifier: Apache-2.0
/*
 * How each kind of event is seen: which hooks of the VM have which BPF program on them, and what
 * the programs' histograms hold. What their values are is in profile/events.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/hooks.h"
#include "profile/profile.h"
#include "wire.h"

/* What the places of a probe are found by. */
enum place_by {
    PLACE_BY_HOOK,   /* site.hook */
    PLACE_BY_BIF,    /* the event's argument: "erlang:md5/1" */
    PLACE_BY_NIF,    /* the same */
    PLACE_BY_SYMBOL, /* "erts_schedule", or "erts_schedule+0x24" */
    PLACE_BY_USDT,   /* "message-send", or "erlang:message-send" */
};

/* A site may be there for the case only that another hook is found, or is not. */
enum event_condition { SITE_ALWAYS, SITE_WITH, SITE_WITHOUT };

struct event_site {
    enum place_by by;
    enum hook hook;
    const char *program;    /* of bpf/ */
    unsigned int arguments; /* of the function, that the program reads: the first ones */
    bool is_return;
    bool is_optional; /* the event is of use without it */
    uint32_t kind;    /* for the program: the high half of the probe's cookie */
    enum event_condition condition;
    enum hook other;    /* of the condition */
    const char *symbol; /* by symbol: NULL is the event's argument */
    int until;          /* the last release that it is for; 0: all */
};

struct event_histogram_kind {
    const char *name; /* "pause, minor" */
    enum unit unit;
};

/* A hit may become several samples: parts of the time that it took. */
struct event_part {
    enum process_status status; /* of the process meanwhile */
    bool shows_status;          /* at the leaf of its stack */
    bool stands_alone;          /* for no other hit than its own */
    uint64_t values[EVENT_VALUES];
};

enum {
    EVENT_SITES_MAX = 8,
    EVENT_KIND_HISTOGRAMS_MAX = 8,
    EVENT_KIND_TALLIES_MAX = WIRE_TALLIES,
    EVENT_PARTS_MAX = 2,
};

struct event_kind {
    const char *name; /* "gc"; one that ends in ':' is followed by an argument */
    bool is_place;    /* its argument must have an offset: "erts_schedule+0x24" */
    struct event_site sites[EVENT_SITES_MAX];
    int site_count;
    struct event_histogram_kind histograms[EVENT_KIND_HISTOGRAMS_MAX];
    int histogram_count;
    const char *tallies[EVENT_KIND_TALLIES_MAX]; /* "left: waits" */
    int tally_count;
    const char *tick; /* a program that runs on each CPU now and then in windows; NULL: none */
    /* Which of its values are the time of many processes at once, a bit each: what grows as time
     * goes by, however much the target gets done meanwhile. */
    uint32_t by_time;
    /* The parts of a hit, and how many; NULL: it is one sample. */
    int (*parts)(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX]);
};

/* An event as it was asked for: "gc", or "bif:erlang:md5/1". The name is borrowed. */
struct event_request {
    const char *name;
    const struct event_kind *kind;
    const char *argument; /* "erlang:md5/1"; "" if its kind has none */
};

/* ERROR_USAGE if there is no such event, or its argument is not of the form that it needs. */
int event_request_parse(const char *name, struct event_request *request, struct error *error);

/* The names of those that need no argument; NULL at the end. */
const char *const *event_kind_list(void);

/* "gc, alloc, bif:MODULE:FUNCTION/ARITY": all there are, for messages. */
const char *event_kind_names(void);
