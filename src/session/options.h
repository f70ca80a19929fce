// SPDX-License-Identifier: Apache-2.0
/* The options of a session: which VMs to profile, and what to record. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/name_keys.h"
#include "capture/sample_clock.h"
#include "capture/event_probes.h"
#include "profile/metrics.h"
#include "session/target_rules.h"
#include "session/trigger.h"
#include "util/error.h"
#include "wire_calls.h"

/* The option N[:METRIC[:SECONDS]]: the N processes with the largest metric, or with its largest
 * growth. */

/* For help texts and messages. */
#define STRUCT_METRICS                                                                             \
    "reductions, msgq, mbuf, heap, stack, young, old, bin_vheap, bin_old_vheap or minor_gcs"

struct top_option {
    size_t count; /* 0: not given */
    enum metric metric;
    bool by_growth; /* rank by growth of the metric */
    double seconds; /* time of growth, or until processes are chosen again; 0: not given */
};

/* Parse `text`, which is modified. Without a metric, it is the growth of reductions. Return 0, or
 * -1 with ERROR_USAGE. */
int session_options_parse_top(char *text, struct top_option *top, struct error *error);

/* Prints a warning for the user; the arguments are as of printf(). */
typedef void (*warn_function)(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The VMs to profile. With neither pids, `all` nor `command`: the only VM of the host. */
struct target_options {
    pid_t *pids;
    size_t pid_count, pid_room;
    bool all;                        /* every VM of the host */
    bool may_be_none;                /* with `all`: VMs may come later */
    uint32_t room;                   /* with `all`: of at least so many VMs at once; 0: a default */
    bool one;                        /* the command has no -a: messages do not offer it */
    char **command;                  /* start this and profile it; NULL: none */
    const char *user;                /* runs the command; NULL: see command_start() */
    const struct target_rule *rules; /* with `all`: the first that matches decides */
    size_t rule_count;
    int assumed_release; /* of VMs that are newer than all known releases; 0: refuse them */
    warn_function warn;
};

struct session_options {
    const struct clock_event *clock;         /* of CPU samples */
    uint32_t frequency;                      /* of CPU samples, per second and CPU: the highest of
                                              * all VMs */
    bool cpu;                                /* sample CPU time */
    struct event_request events[EVENTS_MAX]; /* other events to record */
    int event_count;
    /* Functions whose calls are counted, of events "call:lists:map/2". Borrowed. */
    const char *functions[WIRE_CALL_FUNCTIONS];
    size_t function_count;
    bool wall;               /* record the wall event */
    uint32_t wall_frequency; /* sweeps per second */
    struct top_option top;   /* the processes to sweep over */
    bool joins_sweeps;       /* one sample of a process that rests stands for several sweeps */
    double budget;           /* share of the target's CPU time that probes may cost */
    double host_budget;      /* CPUs that probes and this program may use; 0: no limit */
    double stacks;           /* of each other event and VM a second, on average; 0: no limit */
    uint32_t long_us;        /* a slice of at least this time on a scheduler is a long schedule */
    struct trigger triggers[TRIGGERS_MAX];
    size_t trigger_count;  /* 0: record all of the time */
    uint32_t node_metrics; /* 1 << enum dump_section each: of which to record metrics of the VM */
    bool node_numbers;     /* read the numbers of each VM for operators (node_meter.h) */
    struct name_keys name_keys;
    uint64_t process_ns;   /* between two reads of the names and memory of a process that runs;
                            * 0: a second */
    bool kernel_addresses; /* record where kernel functions are in memory */
    uint64_t flush_ns;     /* interval at which the recording is flushed */
    uint64_t threads_ns; /* between two reads of the times of threads, besides those at the ends of
                          * a recording; longer for VMs that hardly run. 0: at each flush. What a
                          * thread that ends has used since the last read is not known */
    warn_function warn;
};

/* Add the events of a list such as "cpu,gc", which is modified and must stay valid. ERROR_USAGE if
 * there is no such event. */
int session_options_add_events(struct session_options *session, char *list, struct error *error);

/* The name of an event, to be freed: "cpu", "gc", "call:lists:map/2". `index`: from 0 on, in the
 * order of `cpu`, `wall`, `events` and `functions`. NULL if there are fewer events. */
char *session_options_event(const struct session_options *session, size_t index);

/* Add one event, whose name must stay valid, or remove one. ERROR_USAGE if there is no such event,
 * if it is there already, or if it is the last one. */
int session_options_add_another(struct session_options *session, const char *name,
                                struct error *error);
int session_options_remove_event(struct session_options *session, const char *name,
                                 struct error *error);

/* The shares of the target's CPU time for the probes of events, and for the breakpoints of
 * functions: all functions together have the share of one event. */
double session_options_probe_budget(const struct session_options *session);
double session_options_call_budget(const struct session_options *session);

/* The plan for a VM of which all is recorded that the session records. */
struct target_plan session_options_plan(const struct session_options *session);

/* The events of a list such as "gc,alloc" that the session records: 1 << index each. */
uint32_t session_options_find_events(const struct session_options *session, const char *list);

/* The events that it takes, for messages: "cpu, wall, gc, ...". */
const char *session_options_event_names(void);
