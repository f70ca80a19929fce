// SPDX-License-Identifier: Apache-2.0
/* A governor with the probes of a live process, for tests of governors. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "calibration.skel.h"
#include "capture/governor.h"
#include "probe_target.h"
#include "calibrated.h"

#define MS     1000000ull
#define SECOND 1000000000ull

static struct calibration calibration;

/* The tests choose their rates for a machine where a hit costs at most this. */
enum { USUAL_HIT_NS = 1000 };

/* Scale `rate` (hits a second) down where a hit costs more than USUAL_HIT_NS, so that all hits
 * together cost the same. A hit costs ten times as much where a hypervisor handles each trap. */
static double rate_here(double rate)
{
    return rate * fmin(1, USUAL_HIT_NS / calibration.trap_ns[TRAP_EMULATED]);
}

struct profiler {
    struct target target;
    struct calibration_bpf *skeleton;
    struct probe_point point;
    struct governor *governor;
    struct governor_window window; /* the sum of all windows */
    uint64_t hits;                 /* in windows, not scaled */
    uint64_t size;                 /* of a hit */
    int windows;
    uint64_t period;
    uint64_t last_period;                /* the one before `period` */
    uint64_t window_last, window_period; /* both, when the first window of a stratum began */
    bool open;
    _Atomic uint32_t alarm; /* runs after which one is due; 0: none is set */
    _Atomic int looks;      /* at the counts */
    _Atomic bool is_held;   /* attaching would wait for the target */
    _Atomic int kept;       /* groups that were detached meanwhile */
};

/* ---- callbacks ---- */

static void counts(void *context, unsigned group, struct probe_counts *result)
{
    struct profiler *profiler = context;
    uint64_t hits = *(volatile __u64 *)&profiler->skeleton->bss->hits;

    (void)group;
    profiler->looks++;
    *result = (struct probe_counts){
        .runs = hits, .hits = hits, .size = profiler->size * hits, .values = {2 * hits}};
}

static void set_open(void *context, unsigned group, enum wire_open open)
{
    struct profiler *profiler = context;

    (void)group;
    assert_true((open != WIRE_CLOSED) != profiler->open);
    if (open == WIRE_OPEN_FOR_A_WINDOW && !profiler->window_period) {
        profiler->window_period = profiler->period;
        profiler->window_last = profiler->last_period;
    }
    profiler->open = open != WIRE_CLOSED;
}

static void set_period(void *context, unsigned group, uint64_t period)
{
    struct profiler *profiler = context;

    (void)group;
    profiler->last_period = profiler->period;
    profiler->period = period;
}

static void set_alarm(void *context, unsigned group, uint32_t runs)
{
    (void)group;
    ((struct profiler *)context)->alarm = runs;
}

static struct vm_work work(void *context, int group)
{
    uint64_t calls = target_calls(&((struct profiler *)context)->target);

    (void)group;
    return (struct vm_work){calls, calls};
}

static pid_t held_by(void *context, enum probe_change change)
{
    (void)change;
    return ((const struct profiler *)context)->is_held ? 1 : 0;
}

static void keep(void *context, const struct probe_links *links)
{
    assert_non_null(links);
    ((struct profiler *)context)->kept++;
}

/* ---- a profiler and its target ---- */

/* Each thread of the target makes rate_here(rate) calls a second. */
static struct profiler *prepare(double rate, bool with_alarms)
{
    struct profiler *profiler = calloc(1, sizeof(*profiler));
    struct governor_options options = {
        .part = 0.05,
        .stacks = {.ns = 3000, .most = rate_here(1000), .mean = INFINITY},
        .calibration = &calibration,
        .callbacks = {.context = profiler,
                      .counts = counts,
                      .open = set_open,
                      .period = set_period,
                      .alarm = with_alarms ? set_alarm : NULL,
                      .work = work,
                      .held_by = held_by,
                      .keep = keep},
    };
    struct error error;

    assert_non_null(profiler);
    profiler->size = 1;
    profiler->target = target_start();
    profiler->skeleton = calibration_bpf__open();
    assert_non_null(profiler->skeleton);
    probe_link_prepare(profiler->skeleton->progs.count_hit, calibration.way);
    assert_int_equal(calibration_bpf__load(profiler->skeleton), 0);
    assert_int_equal(probe_link_point(profiler->target.mappings, profiler->target.state->address,
                                      &profiler->point, &error),
                     0);
    options.pid = profiler->target.pid;
    profiler->governor = governor_new(&options);
    profiler->target.state->rate = rate_here(rate);
    return profiler;
}

static unsigned add(struct profiler *profiler, uint64_t file_offset)
{
    const struct probe_site site = {
        .program = profiler->skeleton->progs.count_hit,
        .path = profiler->point.path,
        .file_offset = file_offset,
    };

    return governor_add(profiler->governor, &site, 1);
}

static struct profiler *begin(double rate, bool with_alarms)
{
    struct profiler *profiler = prepare(rate, with_alarms);
    struct error error = {0};

    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    assert_int_equal(governor_error(profiler->governor, 0, &error), 0);
    return profiler;
}

static struct profiler *start(double rate)
{
    return begin(rate, false);
}

static void end(struct profiler *profiler)
{
    governor_free(profiler->governor);
    calibration_bpf__destroy(profiler->skeleton);
    target_kill(&profiler->target);
    target_free(&profiler->target);
    free(profiler);
}

/* Take the windows: they come in order, do not overlap, and represent no less time than they
 * cover. */
__attribute__((unused)) static void take_windows(struct profiler *profiler)
{
    struct governor_window window;

    while (governor_window(profiler->governor, &window)) {
        assert_int_equal(window.group, 0);
        assert_true(window.start >= profiler->window.end && window.end >= window.start);
        assert_true(window.represents >= window.end - window.start);
        assert_int_equal(window.values[0], 2 * window.hits);
        profiler->windows++;
        profiler->window.end = window.end;
        profiler->window.represents += window.represents;
        profiler->window.work.count += window.work.count;
        profiler->hits += window.hits;
        if (window.end > window.start)
            profiler->window.hits += (uint64_t)((double)window.hits * (double)window.represents /
                                                (double)(window.end - window.start));
    }
}
