// SPDX-License-Identifier: Apache-2.0
/*
 * Parses lines of `perf script`, in its default form and the usual variants, and in the form of
 * flame_prof (output/flame_prof.h). perf writes them in tools/perf/builtin-script.c,
 * perf_sample__fprintf_start() and process_event() (Linux 6.1), and in util/evsel_fprintf.c,
 * sample__fprintf_callchain().
 */
#pragma once

#include "util/span.h"

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

/* Parse an event line. Returns NULL, or what is wrong with the line. */
const char *perf_line_event(struct span line, struct perf_event_line *ret_event);

struct perf_frame_line {
    uint64_t address;
    struct span symbol; /* with its offset, if the line has one */
    struct span module; /* empty: none */
};

/* True if the line is a frame. */
bool perf_line_frame(struct span line, struct perf_frame_line *ret_frame);
