// SPDX-License-Identifier: Apache-2.0
/* What is asked of a session: which VMs, and what is recorded of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/clock.h"
#include "capture/event_probes.h"
#include "session/top_option.h"
#include "session/trigger.h"

enum { PIDS_MAX = 64 };

/* Takes what people should know though it is no error, as printf does. */
typedef void (*warn_function)(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Which VMs. Nothing of these three: the only one of the host. */
struct target_options {
    pid_t pids[PIDS_MAX];
    size_t pid_count;
    bool all;       /* every BEAM of the host */
    char **command; /* start this and profile it; NULL: none */
    warn_function warn;
};

struct session_options {
    const struct clock_event *clock;         /* of CPU samples */
    uint32_t frequency;                      /* of CPU samples, a second and CPU */
    bool cpu;                                /* sample CPU time */
    struct event_request events[EVENTS_MAX]; /* what else is recorded */
    int event_count;
    bool wall;               /* sweep over processes */
    uint32_t wall_frequency; /* how often a second */
    struct top_option top;   /* of those that it sweeps over */
    double budget;           /* part of the target's CPU time that its probes may cost */
    uint32_t long_us;        /* from here on a slice of time on a scheduler is a long schedule */
    struct trigger triggers[TRIGGERS_MAX];
    size_t trigger_count; /* 0: all of the time is recorded */
    uint64_t flush_ns;    /* from one time that the recording is written out to the next */
    warn_function warn;
};
