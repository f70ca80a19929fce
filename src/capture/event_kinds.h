// SPDX-License-Identifier: Apache-2.0
/*
 * The kinds of events: which hooks of the VM run which BPF program for each, and what the
 * programs' histograms hold. profile/events.h defines the values of each kind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "capture/probe_link.h"
#include "capture/programs.h"
#include "hooks/hooks.h"
#include "profile/profile.h"
#include "wire.h"

/* How the places of a probe are found. */
enum place_by {
    PLACE_BY_HOOK,   /* site.hook */
    PLACE_BY_BIF,    /* the event's argument: "erlang:md5/1" */
    PLACE_BY_NIF,    /* the event's argument */
    PLACE_BY_SYMBOL, /* "erts_schedule", or "erts_schedule+0x24" */
    PLACE_BY_USDT,   /* "message-send", or "erlang:message-send" */
};

enum event_condition {
    SITE_ALWAYS,
    SITE_WITH, /* another hook is found */
    SITE_WITHOUT,
    SITE_UNBUFFERED_PROCESS_INFO, /* features.unbuffered_process_info */
};

struct event_site {
    enum place_by by;
    enum hook hook;
    const char *program;    /* name of a program in bpf/ */
    unsigned int arguments; /* number of the function's arguments that the program reads, from the
                             * first */
    bool is_return;
    bool is_optional; /* the event is useful without this site */
    uint32_t kind;    /* for the program, as the high half of the probe's cookie */
    enum event_condition condition;
    enum hook other;    /* the hook of the condition */
    const char *symbol; /* with PLACE_BY_SYMBOL; NULL: the event's argument */
};

struct event_histogram_kind {
    const char *name; /* "pause, minor" */
    enum unit unit;
};

/* A part of the time of a hit. A hit becomes one sample for each part. */
struct event_part {
    enum process_status status; /* of the process in that time */
    bool shows_status;          /* at the leaf of its stack */
    uint64_t values[EVENT_VALUES];
    uint64_t slice; /* as in struct sample */
};

enum {
    EVENT_SITES_MAX = 9,
    EVENT_KIND_HISTOGRAMS_MAX = 8,
    EVENT_KIND_TALLIES_MAX = WIRE_TALLIES,
    EVENT_PARTS_MAX = 2,
};

struct event_kind {
    const char *name;     /* "gc"; a name that ends in ':' is followed by an argument */
    const char *argument; /* the rest of a name that ends in ':', for help; or NULL */
    bool is_place;        /* the argument must have an offset: "erts_schedule+0x24" */
    struct event_site sites[EVENT_SITES_MAX];
    int site_count;
    struct event_histogram_kind histograms[EVENT_KIND_HISTOGRAMS_MAX];
    int histogram_count;
    const char *tallies[EVENT_KIND_TALLIES_MAX]; /* "left: waits" */
    int tally_count;
    const char *tick; /* a program that runs now and then on each CPU, in windows; NULL: none */
    /* The counter of the VM that varies with the hits most closely, and a bit for each value that
     * varies with the counter's amount and not with its count. */
    enum vm_counter work;
    uint32_t by_amount;
    uint32_t counted; /* a bit for each value that the VM counts itself */
    /* A bit for each value that is the time of many processes at once. Such a value grows as time
     * passes, however much work the target does meanwhile. */
    uint32_t by_time;
    /* A bit for each value that a hit has only if the same window saw an earlier hit of its
     * process. In windows, such a sum is too low. */
    uint32_t in_pairs;
    /* The tally of hits whose time began before their window, plus 1; 0: there is none. */
    uint32_t cut;
    /* Set the parts of a hit, and return their number. NULL: a hit is one sample. */
    int (*parts)(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX]);
};

/* An event as it was requested: "gc", or "bif:erlang:md5/1". The name is borrowed. */
struct event_request {
    const char *name;
    const struct event_kind *kind;
    const char *argument; /* "erlang:md5/1"; "" if the kind has none */
};

/* Return 0; -1 with ERROR_USAGE if there is no such event, or if its argument has a wrong form. The
 * message lists `known`, the events that the caller accepts. */
int event_kinds_parse_request(const char *name, const char *known, struct event_request *request,
                              struct error *error);

/* The number of slots and histograms of `count` events in `targets` targets. */
uint32_t event_kinds_slots(int targets, int count);
uint32_t event_kinds_histograms(const struct event_request *events, int count, int targets);

/* Mark the programs of a kind of events to be loaded, prepared for this way of attaching. */
void event_kind_want(struct programs *programs, const struct event_kind *kind, enum probe_way way);

/* The names of the kinds that need no argument; NULL at the end. */
const char *const *event_kind_list(void);

/* All kinds, for messages: "gc, alloc, bif:MODULE:FUNCTION/ARITY". */
const char *event_kind_names(void);

/*
 * The parts of the time that a process was off its scheduler. Each part of a hit of bpf/sched.bpf.c
 * becomes a sample of its own, so that a flame graph shows them apart.
 */

/* Implements event_kind.parts. The first part has the count of the hit. */
int event_kind_sched_parts(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX]);
