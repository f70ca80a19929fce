// SPDX-License-Identifier: Apache-2.0
/* A small profile with one sample of each kind, for tests of the code that uses profiles. */
#pragma once

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "profile/events.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "recording/recording.h"

#define SMALL_SAMPLES  4
#define SMALL_FILE     "/usr/bin/beam.smp"
#define SMALL_BUILD_ID "5e1c0ffee0d15ea5e0"

static const struct recording_header small_header = {
    .start_realtime = 1763697012000000000, /* 2025-11-21 03:50:12 UTC */
    .start_monotonic = 1000000000,
    .frequency = 100,
    .cpus = 2,
    .event = "cpu-clock",
    .hostname = "web-1",
    .kernel = "6.18.0",
    .command = "beamflame -p 100",
    .version = "0.1.0",
    .trigger = "",
};

struct small_profile {
    struct profile *profile;
    struct sample samples[SMALL_SAMPLES];
    struct recording_totals totals;
    struct event_histogram histogram;
    struct event_tally tally;
    struct event_summary summary; /* event 0: none */
};

/* Only one file has a build id. */
static inline module_id small_module(struct profile *profile, const char *path)
{
    const char *build_id = strcmp(path, SMALL_FILE) ? "" : SMALL_BUILD_ID;

    return *path ? profile_module(profile, &(struct module){profile_string_z(profile, path),
                                                            profile_string_z(profile, build_id)})
                 : 0;
}

static inline frame_id small_frame(struct profile *profile, const char *symbol, const char *module,
                                   enum frame_kind kind, uint64_t address)
{
    return profile_frame(profile, &(struct frame){.address = address,
                                                  .symbol = profile_string_z(profile, symbol),
                                                  .module = small_module(profile, module),
                                                  .kind = (uint8_t)kind});
}

/* Return the stack `from` with a function of a.erl, at a line of it, as its leaf. */
static inline stack_id small_call(struct profile *p, stack_id from, const char *symbol,
                                  uint32_t line)
{
    return profile_stack(p, from,
                         profile_frame(p, &(struct frame){.symbol = profile_string_z(p, symbol),
                                                          .file = profile_string_z(p, "a.erl"),
                                                          .line = line,
                                                          .kind = FRAME_ERLANG}));
}

static inline struct recording_totals small_totals(void)
{
    return (struct recording_totals){.end_monotonic = 3500000000,
                                     .samples = SMALL_SAMPLES,
                                     .erlang_samples = 3,
                                     .complete_stacks = 3,
                                     .frames = 8,
                                     .erlang_frames = 5,
                                     .unknown_native_frames = 1,
                                     .losses[LOSS_RING_FULL] = 2,
                                     .losses[LOSS_UNKNOWN_NATIVE] = 1,
                                     .attach_ns = 12345678,
                                     .profiler_cpu_ns = 5000000,
                                     .peak_rss_kb = 4096};
}

/*
 *  sample  process  stack, root first                      time        state
 *  0       cart     proc_lib:init_p/5 erlang:+/2           2.000000 s  emulator
 *  1       cart     proc_lib:init_p/5 memcpy do_syscall    2.010000 s  port
 *  2       none     spin (busy-wait)                       2.020000 s  busy-wait
 *  3       cart     proc_lib:init_p/5 erlang:+/2           3.000000 s  emulator
 */
static inline void small_profile_make(struct small_profile *small)
{
    struct profile *p = profile_new();
    target_id target =
        profile_target(p, &(struct target_entry){.pid = 100,
                                                 .schedulers = 2,
                                                 .processes = 50,
                                                 .node = profile_string_z(p, "shop@\"web\""),
                                                 .otp_release = profile_string_z(p, "27"),
                                                 .layout = profile_string_z(p, "table")});
    thread_id thread =
        profile_thread(p, &(struct thread_entry){.target = target,
                                                 .tid = 102,
                                                 .name = profile_string_z(p, "erts_sched_1"),
                                                 .scheduler_kind = SCHEDULER_NORMAL,
                                                 .scheduler_number = 1});
    process_id cart =
        profile_process(p, &(struct process_entry){.identity = 0x553,
                                                   .target = target,
                                                   .pid = profile_string_z(p, "<0.85.0>"),
                                                   .name = profile_string_z(p, "cart")});
    stack_id bottom =
        profile_stack(p, 0, small_frame(p, "proc_lib:init_p/5", "", FRAME_ERLANG, 0x7f20aabb0000));
    stack_id plus =
        profile_stack(p, bottom, small_frame(p, "erlang:+/2", "", FRAME_ERLANG, 0x7f20aabbccdd));
    stack_id copy = profile_stack(
        p, bottom,
        small_frame(p, "memcpy", "/opt/my lib/libc.so.6 (deleted)", FRAME_NATIVE, 0x1000));
    stack_id call = profile_stack(
        p, copy,
        small_frame(p, "do_syscall_64", "[kernel.kallsyms]", FRAME_KERNEL, 0xffffffff81000000));
    stack_id spin = profile_stack(p, 0, small_frame(p, "spin", SMALL_FILE, FRAME_NATIVE, 0x2000));
    event_id cpu = event_define(p, EVENT_CPU);
    struct sample erlang = {.time = 2000000000,
                            .values = {[CPU_TIME] = 10000000},
                            .event = cpu,
                            .stack = plus,
                            .process = cart,
                            .thread = thread,
                            .cpu = 3,
                            .status = STATUS_RUNNING,
                            .microstate = MICROSTATE_EMULATOR,
                            .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE};

    *small = (struct small_profile){.profile = p};
    small->samples[0] = small->samples[1] = small->samples[3] = erlang;
    small->samples[1].time = 2010000000;
    small->samples[1].stack = call;
    small->samples[1].microstate = MICROSTATE_PORT;
    small->samples[2] = (struct sample){.time = 2020000000,
                                        .values = {[CPU_TIME] = 10000000},
                                        .event = cpu,
                                        .stack = spin,
                                        .thread = thread,
                                        .activity = ACTIVITY_BUSY_WAIT,
                                        .microstate = MICROSTATE_BUSY_WAIT};
    small->samples[3].time = 3000000000;
    metrics_set(&small->samples[0].metrics, METRIC_REDUCTIONS, 1000);
    metrics_set(&small->samples[0].metrics, METRIC_HEAP, 2000);
    metrics_set(&small->samples[1].metrics, METRIC_REDUCTIONS, 1500);
    metrics_set(&small->samples[3].metrics, METRIC_REDUCTIONS, 4000);
    metrics_set(&small->samples[3].metrics, METRIC_HEAP, 600);
    small->totals = small_totals();
}

/* Turn samples 1 and 3 into garbage collections, and add an event without samples. */
static inline void small_profile_add_events(struct small_profile *small)
{
    struct profile *p = small->profile;
    event_id gc = event_define(p, "gc");
    struct sample *minor = &small->samples[1], *major = &small->samples[3];

    event_define(p, "bif:erlang:md5/1");
    minor->event = major->event = gc;
    memset(minor->values, 0, sizeof(minor->values));
    memset(major->values, 0, sizeof(major->values));
    minor->values[GC_TIME] = 12300;
    minor->values[GC_COUNT] = 3;
    minor->values[GC_RECLAIMED] = 1000;
    major->values[GC_TIME] = 4567890;
    major->values[GC_COUNT] = 1;
    major->values[GC_BINARIES] = 1500;
    small->histogram = (struct event_histogram){
        .name = profile_string_z(p, "pause, \"minor\""),
        .unit = UNIT_NS,
        .seen = 2,
    };
    histogram_add(&small->histogram.histogram, 1000, 3);
    histogram_add(&small->histogram.histogram, 500000, 1);
    small->tally = (struct event_tally){profile_string_z(p, "put off"), 5, 3};
    small->summary = (struct event_summary){
        .event = gc,
        .hits = 1234,
        .lost = 2,
        .span_ns = 2500000000,
        .covered_ns = 1000000000,
        .windows = 13,
        .cost_ns = 12000000,
        .target_cpu_ns = 2000000000,
        .sums = {4600000, 3085, 1000, 0},
        .errors = {100000, 100, 0, 0},
        .histograms = &small->histogram,
        .histogram_count = 1,
        .tallies = &small->tally,
        .tally_count = 1,
    };
}

static inline int memory_file(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static inline int memory_file_of(const void *data, size_t size)
{
    int fd = memory_file();

    assert_int_equal(write(fd, data, size), (ssize_t)size);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Return all bytes of a file, followed by NUL. */
static inline char *file_bytes(int fd, size_t *ret_size)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *bytes = malloc((size_t)size + 1);

    assert_non_null(bytes);
    assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
    bytes[size] = '\0';
    if (ret_size)
        *ret_size = (size_t)size;
    return bytes;
}

/* Write the samples to a recording in an unnamed file, and return its descriptor at the start. */
static inline int small_recording(struct small_profile *small)
{
    struct error error;
    struct recording_writer *writer = recording_create(NULL, "/tmp", &small_header, &error);
    int fd = -1;

    assert_non_null(writer);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        assert_int_equal(recording_append(writer, small->profile, &small->samples[i], &error), 0);
    if (small->summary.event)
        assert_int_equal(recording_put_summary(writer, small->profile, &small->summary, &error), 0);
    assert_int_equal(recording_finish(writer, small->profile, &small->totals, &fd, &error), 0);
    return fd;
}
