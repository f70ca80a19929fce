// SPDX-License-Identifier: Apache-2.0
/* The session as session.c, session_start.c and membership.c share it. */
#pragma once

#include "capture/memory_lock.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "capture/start_watch.h"
#include "os/kernel_symbols.h"
#include "session/arrivals.h"
#include "session/busiest.h"
#include "session/cpu_time.h"
#include "session/event_samples.h"
#include "session/presence.h"
#include "session/segment.h"
#include "session/session.h"

struct session {
    const struct session_options *options;
    struct targets *targets;
    uint32_t room;              /* targets that there can be at once */
    bool is_full;               /* it was reported that there is no more room */
    pid_t ended;                /* the last target that has ended and was not taken; 0: none */
    struct arrivals *arrivals;  /* NULL: VMs that start later are not looked for */
    struct start_watch *starts; /* NULL: the same */
    const char *command_line;
    struct kernel_symbols *kernel;
    struct programs *programs;
    struct memory_locks *memory_locks;
    pid_t holder; /* of a lock, in the last look; 0: none */
    unsigned int holder_looks;
    struct sampler *sampler;   /* NULL: CPU samples are not needed */
    struct cpu_time *cpu_time; /* NULL: the same */
    struct events *events;
    struct buffer fired; /* text of the trigger that fired last */
    struct segment *segment;
    uint64_t samples;            /* of the segments before */
    uint64_t losses[LOSS_COUNT]; /* the same */
    uint64_t first_ns, looked_ns, flushed_ns;
    struct presence presence;
    bool stopped;     /* no more samples are taken */
    bool guarded;     /* the guard has stopped CPU sampling */
    int write_result; /* of appending while samples are processed */
    struct error write_error;
    struct busiest busiest;
};
