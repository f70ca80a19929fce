// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of `perf script`, in its default form and the usual variants of it, and in that of
 * flame_prof (output/flame_prof.h). What perf writes is in tools/perf/builtin-script.c,
 * perf_sample__fprintf_start() and process_event() (Linux 6.1), and util/evsel_fprintf.c,
 * sample__fprintf_callchain().
 */
#pragma once

#include "util/span.h"

struct perf_event_line {
    struct span who;  /* name and ids as they stand there */
    struct span comm; /* of flame_prof: the status */
    uint32_t pid;     /* 0: not told */
    uint32_t tid;
    struct span erlang_pid; /* of flame_prof, "0.123.0"; else empty */
    bool has_cpu;
    uint16_t cpu;
    uint64_t time; /* ns */
    bool has_period;
    uint64_t period;
    struct span event;
    struct span rest; /* behind the event: its fields, or where it was if there is no stack */
    bool alone;       /* no stack follows: perf indents names if it records none */
};

/* What is wrong with the line, NULL if nothing is. */
const char *perf_event_line(struct span line, struct perf_event_line *ret_event);

struct perf_frame_line {
    uint64_t address;
    struct span symbol; /* with its offset, if that is there */
    struct span module; /* empty if there is none */
};

/* Whether the line is a frame. */
bool perf_frame_line(struct span line, struct perf_frame_line *ret_frame);
