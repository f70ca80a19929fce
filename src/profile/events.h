// SPDX-License-Identifier: Apache-2.0
/*
 * The events, and the values of each. The enums number the values: they index sample.values.
 *
 *      cpu                                 CPU time, sampled
 *      wall                                time of processes, running or not
 *      gc                                  garbage collections
 *      alloc                               words allocated on the heap
 *      sched                               time off a scheduler, until a process is scheduled again
 *      msg                                 messages and other signals, sent and received
 *      call:NAME                           calls of one Erlang function
 *      bif:NAME nif:NAME probe:NAME usdt:NAME   calls of one function, hits of one probe
 */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

enum cpu_value { CPU_TIME };
enum wall_value { WALL_TIME, WALL_COUNT };
enum gc_value { GC_TIME, GC_COUNT, GC_RECLAIMED, GC_BINARIES, GC_HEAP_BEFORE, GC_HEAP_AFTER };
enum alloc_value { ALLOC_WORDS, ALLOC_COUNT, ALLOC_BINARIES };
/* WAIT: all of the time off a scheduler. DELAY: the part of it in a run queue. LONG: the time of
 * slices that reach a threshold. */
enum sched_value { SCHED_WAIT, SCHED_DELAY, SCHED_COUNT, SCHED_LONG };
/* COUNT: messages sent. WORDS: words copied for them. DELAY: time of messages in the queue.
 * RECEIVED: messages received. SIGNALS: other signals sent. */
enum msg_value { MSG_COUNT, MSG_WORDS, MSG_DELAY, MSG_RECEIVED, MSG_SIGNALS };
enum call_value { CALL_TIME, CALL_COUNT };
enum place_value { PLACE_COUNT }; /* of functions and probes that have hits, but no times */

/* Its samples are taken at the frequency in the recording's header. */
#define EVENT_CPU "cpu"

#define EVENT_WALL  "wall"
#define EVENT_SCHED "sched"
#define EVENT_ALLOC "alloc"
#define EVENT_MSG   "msg"
#define EVENT_GC    "gc"

/* The function follows: "call:lists:map/2". */
#define EVENT_CALL "call:"

/* True if the clock of CPU samples with this name is a timer: it counts ns. perf adds modifiers to
 * names ("cpu-clock:u"). */
bool event_clock_is_timer(const char *name);

/* The id of the event with this name; 0 if the profile has none. */
event_id event_find(const struct profile *profile, const char *name);

/* Define the event with this name in the profile. Return its id, or 0 if it is not the name of an
 * event. */
event_id event_define(struct profile *profile, const char *name);

/* True if this is the name of an event. */
bool event_is_known(const char *name);

/* True if only averages of this value make sense, not sums: it is a size of the heap, not an
 * amount. */
bool event_value_is_level(const char *event, uint32_t value);

/* True if samples of the event may have a peer (sample.peer). */
bool event_has_peers(const char *event);

/* Append the list of events for the user, a line each: "  gc     time, count, ...". */
void events_text(struct buffer *text);

bool event_is_gc(const struct profile *profile, event_id id);
bool event_is_cpu(const struct profile *profile, event_id id);
bool event_is_wall(const struct profile *profile, event_id id);
bool event_is_sched(const struct profile *profile, event_id id);
bool event_is_msg(const struct profile *profile, event_id id);
