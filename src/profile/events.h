// SPDX-License-Identifier: Apache-2.0
/*
 * The events there are, and what is measured at each: the numbers here are indices of
 * sample.values.
 *
 *      cpu                                 where CPU time goes, sampled
 *      wall                                what processes do in time, whether they run or not
 *      gc                                  garbage collections
 *      alloc                               words that were allocated on the heap
 *      sched                               from unscheduled to scheduled again
 *      msg                                 messages and other signals, sent and received
 *      bif:NAME nif:NAME probe:NAME usdt:NAME   calls of one function, hits of one probe
 */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

enum cpu_value { CPU_TIME };
enum wall_value { WALL_TIME, WALL_COUNT };
enum gc_value { GC_TIME, GC_COUNT, GC_RECLAIMED, GC_BINARIES, GC_HEAP_BEFORE, GC_HEAP_AFTER };
enum alloc_value { ALLOC_WORDS, ALLOC_COUNT, ALLOC_BINARIES };
/* All of the time off a scheduler, of it that in a run queue; slices above a threshold. */
enum sched_value { SCHED_WAIT, SCHED_DELAY, SCHED_COUNT, SCHED_LONG };
/* Messages sent, with the words copied for that; the time that messages were in the queue, and how
 * many were received; other signals sent. */
enum msg_value { MSG_COUNT, MSG_WORDS, MSG_DELAY, MSG_RECEIVED, MSG_SIGNALS };
enum call_value { CALL_TIME, CALL_COUNT };

/* Samples of this event are taken at the frequency in the recording's header. */
#define EVENT_CPU "cpu"

#define EVENT_WALL  "wall"
#define EVENT_SCHED "sched"
#define EVENT_ALLOC "alloc"
#define EVENT_MSG   "msg"
#define EVENT_GC    "gc"

/* The event of that name in a profile; 0 if it has none. */
event_id event_find(const struct profile *profile, const char *name);

/* The event of that name, defined in the profile; 0 if there is no such kind of event. */
event_id event_define(struct profile *profile, const char *name);

/* Whether there is a kind of event with this name. */
bool event_is_known(const char *name);

/* Whether sums of this value mean nothing, and only its average does: the size of a heap, not what
 * was taken from it. */
bool event_value_is_level(const char *event, uint32_t value);

/* Whether its samples may tell another process (sample.peer). */
bool event_has_peers(const char *event);

/* Append for people what there is, a line for each kind: "  gc      time, count, ...". */
void event_kinds_text(struct buffer *text);

bool event_is_gc(const struct profile *profile, event_id id);
bool event_is_cpu(const struct profile *profile, event_id id);
bool event_is_wall(const struct profile *profile, event_id id);
bool event_is_sched(const struct profile *profile, event_id id);
bool event_is_msg(const struct profile *profile, event_id id);
