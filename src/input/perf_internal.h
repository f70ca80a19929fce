// SPDX-License-Identifier: Apache-2.0
/* perf-script text: what the files of its reader share. */
#pragma once

#include "input/input_internal.h"
#include "profile/metrics.h"
#include "profile/profile.h"
#include "util/span.h"

/* ---- perf_line.c ---- */

/*
 * Parses lines of `perf script`, in its default form and the usual variants, and in the form of
 * flame_prof (output/perf.c). perf writes them in tools/perf/builtin-script.c,
 * perf_sample__fprintf_start() and process_event() (Linux 6.1), and in util/evsel_fprintf.c,
 * sample__fprintf_callchain().
 */

struct perf_event_line {
    struct span who;  /* name and ids, as in the line */
    struct span comm; /* thread name; in flame_prof: the status */
    uint32_t pid;     /* 0: not in the line */
    uint32_t tid;
    struct span erlang_pid; /* in flame_prof: "0.123.0"; else empty */
    bool has_cpu;
    uint16_t cpu;
    uint64_t time; /* ns */
    bool has_period;
    uint64_t period;
    struct span event;
    struct span rest; /* after the event: its fields, or the only frame */
    bool alone;       /* no stack follows: perf indents such lines */
};

/* Parse an event line. Return NULL, or the fault of the line. */
const char *perf_line_event(struct span line, struct perf_event_line *ret_event);

struct perf_frame_line {
    uint64_t address;
    struct span symbol; /* with its offset, if the line has one */
    struct span module; /* empty: none */
};

/* True if the line is a frame. */
bool perf_line_frame(struct span line, struct perf_frame_line *ret_frame);

/* ---- perf_header.c ---- */

/*
 * Reads the comments of perf-script text: "# KEY : VALUE" before the samples, and after them the
 * counters that beamflame writes (output/perf.c).
 */

struct perf_header {
    bool own;           /* beamflame wrote the file */
    struct span weight; /* what event lines count, a text of the profile; empty: samples */
    enum unit unit;     /* of `weight` */
};

/* Read a line that begins with '#'. Unknown comments are ignored. */
void perf_header_take(struct perf_header *header, struct span line, struct import *import);

/* ---- perf_stack.c ---- */

/*
 * Turns stacks of `perf script`, leaf first, into stacks of a profile.
 *
 * Stacks that beamflame wrote get their original form: escapes are undone, and the frames that say
 * who ran are marks. In all other stacks the root is the name of the thread. Symbols have the form
 * of stackcollapse-perf.pl: without offset, arguments and quotes, with the module's name in
 * brackets if there is no symbol. "a->b" becomes two frames, of which the second is inlined
 * ("b_[i]"). Unlike in stackcollapse-perf.pl, "operator->" is one frame, and "(anonymous
 * namespace)" stays.
 */

struct perf_stacks;

struct perf_stack {
    stack_id stack;
    uint32_t frames, unresolved;
};

/* Borrows `profile`. `own`: beamflame wrote the stacks. */
struct perf_stacks *perf_stacks_new(struct profile *profile, bool own);
void perf_stacks_free(struct perf_stacks *stacks);

/* Read the stack whose frames are the lines of `text`, each with its line end. Stacks of other
 * programs get a root for `comm`. Returns 0, or the number of the first line that is no frame, from
 * 1 on. */
uint64_t perf_stacks_read(struct perf_stacks *stacks, struct span text, string_id comm,
                          struct perf_stack *ret_stack);

/* Guesses the kind of a frame from its text. */

/* The only frame that beamflame writes if there is no stack. */
#define NO_STACK "[no stack]"

/* The kind by the code's address and perf's dso (`module`). */
enum frame_kind perf_stack_kind_of_code(uint64_t address, struct span module);

/* The kind by the text alone. */
enum frame_kind perf_stack_kind_of_text(struct span text);
