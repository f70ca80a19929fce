// SPDX-License-Identifier: Apache-2.0
/* A target: one VM that is profiled, and all that belongs to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/process_sweep.h"
#include "beam/vm.h"
#include "capture/event_probes.h"
#include "session/segment.h"
#include "session/target_rules.h"
#include "symbol/allocation.h"
#include "symbol/symbolizer.h"

/* Those that look at a target from time to time. */
enum target_reader {
    READER_LIFE,
    READER_THREADS,
    READER_SECOND,
    READER_WALL,
    READER_METER,
    READER_SLOW_METER,
    READERS
};

/* What a target had done at a moment: a change shows that it has run since. */
struct target_activity {
    uint64_t cpu_ns, samples;
};

struct target {
    struct vm *vm;
    const struct target_rule *rule; /* the first that it matches; NULL: none. Borrowed */
    struct target_plan plan;        /* what this session records of it */
    uint32_t number;                /* 0, 1, 2...: no two targets of a session have the same */
    bool ended;                     /* the session knows that the VM has ended */
    bool joined;                    /* it has started later than the session */
    bool rested;                    /* for a second: target_note_rest() */
    struct {
        uint64_t looked;           /* ns, CLOCK_MONOTONIC: the last look; 0: none yet */
        bool stopped, was_stopped; /* by a signal or a debugger: at that look; at any look */
    } life;                        /* target_look() */
    struct {
        bool is_known;
        uint64_t due, pause; /* ns: the next look (CLOCK_MONOTONIC), the time to the one after it */
    } name;                  /* of a node */
    unsigned copy; /* from 1 on, of the VMs with the same labels of metrics; 0: not given yet */
    struct target_activity activity; /* as last read */
    uint64_t activity_ns;            /* CLOCK_MONOTONIC: when it was read */
    struct target_activity seen[READERS];
    struct trace_atoms trace_atoms;
    bool has_traces;               /* all of these were found */
    struct sweep_room *sweep_room; /* of the sweeps over all targets; borrowed */
    /* The session makes these. NULL: not made yet, or not needed for what is recorded. */
    struct symbolizer *symbolizer;
    struct vm_cpu_time *cpu_time;        /* session/cpu_time.h */
    struct event_probes *probes;         /* NULL where no event is recorded */
    struct allocation *allocation;       /* NULL unless event alloc is recorded */
    struct wall *wall;                   /* session/wall.h */
    struct trigger_watch *trigger_watch; /* session/trigger_watch.h */
    struct node_watch *node_watch;       /* session/node_watch.h */
    struct node_meter *meter;            /* session/node_meter.h */
};

/* Takes over `vm`. */
struct target *target_new(struct vm *vm, const struct target_rule *rule);
void target_free(struct target *target);

/* True while the VM runs: not another process with its pid, and no other program in its process. */
bool target_runs(const struct target *target);
/* True while the VM runs and holds back no memory (native/memory.h). */
bool target_is_readable(const struct target *target);

/* Call for each sample of the target. */
void target_note_sample(struct target *target);

/* True if the target has not run between the readings that this reader's last call and this one
 * use: all that it has in memory is as it was. The kernel accounts a thread that has started to run
 * within some ms, and readers other than READER_WALL and READER_THREADS share readings that are up
 * to a second old. So a change can show at the next call only. */
bool target_has_rested(struct target *target, enum target_reader reader);

/* True if the target has used less than `most_ns` of CPU time since this function returned false to
 * this reader. */
bool target_has_hardly_run(struct target *target, enum target_reader reader, uint64_t most_ns);

/* For readers that look each second, or at each step: see if the target has rested for a second.
 * Call once a second. */
void target_note_rest(struct target *target);
/* True if it had, and has given no sample since. A run without a sample, and the end of the
 * VM, show up to two seconds later. */
bool target_is_at_rest(const struct target *target);

/* Free the parts of the target that belong to events, and use programs of the kernel. */
void target_leave_events(struct target *target);

/* Free what the session has made: all but the VM and its rule. */
void target_leave_session(struct target *target);

/* Add the pid to an error of attaching to this VM. If the VM has ended, the error says that
 * instead. Return -1. */
int target_error(const struct target *target, struct error *error);

/* See if the target is stopped (SIGSTOP, a debugger), which makes each thread run for a moment, and
 * count the time since the last look in the
 * segment. Warn at the first look that finds it stopped. Call about once a second while the target
 * runs, and when a segment ends. */
void target_look(struct target *target, bool has_rested, struct segment *segment,
                 warn_function warn);

/* Note in the segment that the target has ended now. */
void target_note_end(const struct target *target, struct segment *segment);

/* See if the VM uses OpenTelemetry, and have the traces of its processes read from then on, by the
 * kernel and by sweeps. Call
 * about once a second: a VM can load OpenTelemetry at any time. */
void target_look_for_traces(struct target *target, struct programs *programs);
