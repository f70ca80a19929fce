// SPDX-License-Identifier: Apache-2.0
/* What the files of a session share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/event_probes.h"
#include "capture/memory_lock.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "os/kernel_symbols.h"
#include "profile/event_spans.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "session/call_events.h"
#include "session/cpu_time.h"
#include "session/options.h"
#include "session/segment.h"
#include "session/session.h"
#include "session/targets.h"
#include "symbol/symbolizer.h"

/* ---- arrivals.c ---- */

/*
 * Finds VMs that start while a session with all VMs of the host runs. The kernel reports programs
 * that begin. Looks at all processes find the VMs that it did not report.
 *
 * A VM that has just begun can't be profiled yet. It is tried again at growing intervals, for as
 * long as a VM may need to start.
 */

struct arrivals;

/* Targets, and VMs that the targets have refused for good, do not arrive. */
struct arrivals *arrivals_new(const struct targets *targets);
void arrivals_free(struct arrivals *arrivals);

/* Look at a process that has just begun a program. */
void arrivals_note(struct arrivals *arrivals, pid_t pid);

/* Try a VM again that has no name yet: rules may match its name. The pause doubles each time. */
void arrivals_ask_again(struct arrivals *arrivals, pid_t pid);

/* Look at all processes, unless the last look was so recent that another one would take more than
 * half a percent of a CPU; a twentieth of a percent if the kernel reports programs that start. A
 * look reads only executables that are new since the last one. */
void arrivals_look(struct arrivals *arrivals, bool are_reported);

/* Let a VM that was settled be added again. */
void arrivals_again(struct arrivals *arrivals, pid_t pid);

/* Return the VM that has been due for the longest time; 0 if none is. */
pid_t arrivals_next(const struct arrivals *arrivals);

/* Return the time until a VM is due (ns); UINT64_MAX if none waits. */
uint64_t arrivals_wait(const struct arrivals *arrivals);

/* The seconds since a VM was first seen with its present executable. */
double arrivals_seconds(const struct arrivals *arrivals, pid_t pid);

/* Record that a VM could not be added. Return true if it is given up now, because it has had as
 * long as a VM may need to start. */
bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error);

/* Return the VM again in a second. */
void arrivals_postpone(struct arrivals *arrivals, pid_t pid);

/* Look for this VM no more: it is a target, or will not be one. */
void arrivals_settle(struct arrivals *arrivals, pid_t pid);

/* ---- busiest.c ---- */

/* Finds the process with the most recent samples, for the progress line. */

/* All zero is empty. */
struct busiest {
    uint32_t *samples; /* by process */
    size_t room;
    uint32_t total;
    char name[128]; /* of the process that busiest_note() found, "" if none */
    double share;   /* its share of the samples of processes */
};

void busiest_free(struct busiest *busiest);
void busiest_count(struct busiest *busiest, process_id process);
/* Find the process with the most samples since the last call. */
void busiest_note(struct busiest *busiest, const struct profile *profile);

/* ---- presence.c ---- */

/*
 * The times in which the recorder ran. If it did not run for seconds and there are no samples of
 * that time, the machine stood still or this process was stopped: nothing is known of that time. If
 * there are samples, the machine ran, and this process only waited for a CPU.
 */

struct presence {
    uint64_t since; /* ns, CLOCK_MONOTONIC: end of the last step */
    bool sampled;   /* a sample is of the time since then */
};

/* The recorder runs since `now`. */
void presence_begin(struct presence *presence, uint64_t now);

/* Note the time of a sample that is read at `now`. */
void presence_sample(struct presence *presence, uint64_t time, uint64_t now);

/* End a step, and add its time to the spans of event 0, unless nothing is known of it. */
void presence_step(struct presence *presence, uint64_t now, struct event_spans *spans);

/* ---- session.c ---- */

struct session {
    const struct session_options *options;
    struct targets *targets;
    uint32_t room;              /* targets that there can be at once */
    bool is_full;               /* the lack of room was reported */
    pid_t ended;                /* the last target that has ended and was not taken; 0: none */
    struct arrivals *arrivals;  /* NULL: no search for VMs that start later */
    struct start_watch *starts; /* NULL: the same */
    const char *command_line;
    struct kernel_symbols *kernel;
    struct programs *programs;
    struct memory_locks *memory_locks;
    struct sweep_room *sweep_room;
    pid_t holder; /* of a lock, in the last look; 0: none */
    unsigned int holder_looks;
    struct sampler *sampler;   /* NULL: CPU samples are not needed */
    struct cpu_time *cpu_time; /* NULL: CPU samples are not recorded */
    struct events *events;
    struct call_events *calls; /* NULL: none are counted */
    struct buffer fired;       /* text of the trigger that fired last */
    struct segment *segment;
    uint64_t samples;            /* of the segments before */
    uint64_t losses[LOSS_COUNT]; /* the same */
    uint64_t lost;               /* samples that earlier programs of the kernel dropped */
    uint64_t first_ns, looked_ns, flushed_ns;
    uint64_t threads_ns; /* when the times of threads were read last */
    struct presence presence;
    bool paused;      /* no samples are taken until session_resume() */
    bool changed;     /* paused, and all has begun with other events: session_change() */
    bool stopped;     /* no more samples are taken */
    bool guarded;     /* the guard has stopped CPU sampling */
    int write_result; /* of appending while samples are processed */
    struct error write_error;
    struct busiest busiest;
};

/* Leave a segment that has ended, for another one. */
void session_leave_segment(struct session *session);

/* ---- session_looks.c ---- */

/* Look at all targets: whether they run, and what they have loaded. */
void session_look_at_targets(struct session *session);
/* Read the times of their threads. */
void session_look_at_threads(struct session *session);
/* Do both, when a segment ends. */
void session_look_at_all(struct session *session);
/* Return the time to wait for the next step: `timeout_ms`, or less while code changes. Code that is
 * replaced twice between two steps loses its names. */
int session_limit_timeout(const struct session *session, int timeout_ms);
/* Do what is due each second. */
int session_each_second(struct session *session, struct error *error);

/* ---- membership.c ---- */

/*
 * Which VMs are targets of a session. It begins with those that it is given. If all VMs of the host
 * are targets, VMs that start later join. A VM that has ended stays, without probes, until its
 * segment is written.
 */

/* The start of a session, in this order. */

/* Make the symbolizers. If all VMs of the host are targets, those that can't be profiled are
 * skipped. Sets session->room. */
int membership_open(struct session *session, struct error *error);
/* Let hits and samples of all targets count. */
int membership_begin(struct session *session, struct error *error);
/* Begin the accounts of CPU time, if CPU time is sampled. */
void membership_account(struct session *session);
/* Begin sweeps and triggers. */
int membership_watch(struct session *session, struct error *error);
/* Do the searches that take long and are not needed before the first sample. Samples wait
 * meanwhile. */
void membership_prepare(struct session *session);

/* A change of the events, in this order. */

/* Let nothing sample the targets. */
void membership_rest(struct session *session);
/* Let the targets follow the options and the new segment. membership_begin() and
 * membership_account() follow. */
void membership_move(struct session *session);
/* Begin sweeps. */
int membership_sweep(struct session *session, struct error *error);

/* While it runs. */

/* Let VMs leave that have ended, and look for VMs that have started. Call about once a second. */
int membership_step(struct session *session, struct error *error);
/* Let VMs leave that have ended by now. */
int membership_leave_ended(struct session *session, struct error *error);
/* Let VMs join that have started, for a short time. Call at each step. */
int membership_welcome(struct session *session, struct error *error);
/* Return the part of the timeout (ms) after which a VM may be able to join. */
int membership_limit_timeout(const struct session *session, int timeout_ms);
/* False once every target has ended. */
bool membership_alive(const struct session *session);
/* Warn of targets that have ended since the last step. */
void membership_note_ends(const struct session *session);
/* Let a target leave whose VM runs, and join again by the rule that it matches now, if that wants
 * it.
 */
int membership_rejoin(struct session *session, struct target *target, struct error *error);
/* Forget the targets that have ended, when their segment is written. */
void membership_forget(struct session *session);

/* ---- event_samples.c ---- */

/*
 * The events of a session: the probes of each target, and the way of their samples into the
 * recording.
 *
 *   new ──> find ──> (programs_load, programs_add_target) ──> start ──> { sample, release }...
 *       ──> stop ──> release ──> free
 *
 * For the next segment: end ──> release ──> put_summaries ──> begin.
 */

struct events;

/* Define the events in the profile. Borrows all arguments. */
struct events *event_samples_new(const struct session_options *options,
                                 const struct targets *targets, struct profile *profile);
/* The targets must have left the session: their probes use `events`. */
void event_samples_free(struct events *events);

/* Set the sizes that the programs need for `targets` targets. */
void event_samples_sizes(const struct events *events, uint32_t targets,
                         struct programs_options *sizes);

/* Find the hooks of each target in its code, and request their programs. Borrows `programs` and
 * `locks`. */
int event_samples_find(struct events *events, struct programs *programs, struct memory_locks *locks,
                       struct error *error);

/* Attach the probes. An event that a target refuses is a warning. If all targets refuse all events,
 * and CPU time is not sampled either, that is an error. */
int event_samples_start(struct events *events, struct error *error);
void event_samples_stop(struct events *events);

/* Find the hooks of a target that starts later, and attach its probes. An event that it refuses is
 * a warning. */
int event_samples_join(struct events *events, struct target *target, struct error *error);

/* Detach the probes of a target that has ended. Its held samples have their scales then. */
void event_samples_leave(struct target *target);

/* Drop what is held of a target before it is freed. */
void event_samples_forget(struct events *events, const struct target *target);

/* Take a symbolized sample of an event of this target. It is held until its window is closed,
 * because its scale is not known before. */
void event_samples_take(struct events *events, const struct target *target,
                        const struct snapshot *snapshot, const struct wire_hit *hit,
                        const struct sample *sample);

/* True if an event needs CPU samples, even if these are not recorded. */
bool event_samples_need_cpu(const struct events *events);
int event_samples_take_cpu(struct events *events, const struct target *target,
                           const struct snapshot *snapshot, const struct sample *sample,
                           struct segment *segment, struct error *error);

/* Append the held samples whose scale is known now. */
int event_samples_release(struct events *events, struct segment *segment, struct error *error);
/* Return the time of the oldest sample that is held; UINT64_MAX if none is. */
uint64_t event_samples_oldest(const struct events *events);

/* Write the summaries of what was counted since the segment began. */
int event_samples_put_summaries(struct events *events, struct segment *segment,
                                struct error *error);

/* End the counts of this segment. */
void event_samples_end(struct events *events, struct segment *segment);
/* Begin the next segment. `profile` must be new, and have the events that the old one had before
 * event_samples_new(), but no others. Samples that are still held move there; the old profile is
 * needed until then. */
void event_samples_begin(struct events *events, struct profile *profile);
