// SPDX-License-Identifier: Apache-2.0
/*
 * A recording with all kinds of entries, events and chunks, as the writer makes it: seeds of the
 * fuzzers, and input of tests of all formats. Each flag leaves out something that is optional, or
 * makes numbers extreme.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "profile/microstates.h"
#include "profile/profile.h"
#include "recording/recording.h"

enum full_flag {
    FULL_NO_TARGETS = 1 << 0,
    FULL_ONE_TARGET = 1 << 1,
    FULL_THREAD_WITHOUT_TARGET = 1 << 2,
    FULL_PROCESS_WITHOUT_TARGET = 1 << 3,
    FULL_NO_THREAD = 1 << 4,
    FULL_NO_PROCESS = 1 << 5,
    FULL_NO_STACK = 1 << 6,
    FULL_NO_PEER = 1 << 7,
    FULL_NO_DETAIL = 1 << 8,
    FULL_NO_NAMES = 1 << 9, /* of processes, threads, targets and frames */
    FULL_NO_MODULE = 1 << 10,
    FULL_NO_ANCESTORS = 1 << 11,
    FULL_NO_SUMMARY = 1 << 12,
    FULL_NO_THREAD_TIMES = 1 << 13,
    FULL_HUGE_VALUES = 1 << 14,   /* near 2^64: each value of samples and metrics */
    FULL_HUGE_COUNTS = 1 << 15,   /* near 2^64: totals, summaries, times of threads */
    FULL_HUGE_TIMES = 1 << 16,    /* the recording ends at 2^64 - 1 ns */
    FULL_FOREIGN_TEXTS = 1 << 17, /* names with controls, and with what formats are made of */
    FULL_DEEP = 1 << 18,          /* a stack of 3,000 frames */
    FULL_FLAGS = 19,
};

struct full_profile {
    struct profile *profile;
    uint32_t flags;
    target_id targets[2];
    thread_id threads[3];
    process_id processes[3];
    stack_id stacks[5];
};

static inline bool full_has(const struct full_profile *full, uint32_t flag)
{
    return full->flags & flag;
}

/* Around a foreign text: escapes of terminals, C1 controls, controls of direction, noncharacters, a
 * surrogate, a byte that is not UTF-8, and what ends or begins something in a format. */
#define FULL_FOREIGN_BEFORE "(2) \"'\x1b[2J"
#define FULL_FOREIGN_AFTER                                                                         \
    "\x1b["                                                                                        \
    "31m\x07\xc2\x9b\xc2\x85\xe2\x80\xae\xe2\x81\xa6\x7f\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\xff"  \
    "<&\">'`;()->{}[],%s%n%28+#=: \\ \t\r\n"                                                       \
    "</script><img src=x onerror=foreign()>]]>-->\n"                                               \
    "fn=(3) other\nbeam.smp 1/1 [000] 1.000001: 1 other:\n"

/* Text that can be left out. */
static inline string_id full_text(const struct full_profile *full, const char *text)
{
    char both[512];

    if (full_has(full, FULL_NO_NAMES))
        return 0;
    if (!full_has(full, FULL_FOREIGN_TEXTS))
        return profile_string_z(full->profile, text);
    snprintf(both, sizeof(both), "%s%s%s", FULL_FOREIGN_BEFORE, text, FULL_FOREIGN_AFTER);
    return profile_string_z(full->profile, both);
}

/* `number`, or a number near 2^64. */
static inline uint64_t full_number(const struct full_profile *full, uint32_t flag, uint64_t number)
{
    return full_has(full, flag) ? UINT64_MAX - number : number;
}

static inline void full_add_targets(struct full_profile *full)
{
    int count = full_has(full, FULL_NO_TARGETS) ? 0 : full_has(full, FULL_ONE_TARGET) ? 1 : 2;

    for (int i = 0; i < count; i++)
        full->targets[i] =
            profile_target(full->profile, &(struct target_entry){
                                              .pid = 100 + (uint32_t)i,
                                              .schedulers = 2,
                                              .dirty_cpu_schedulers = 1,
                                              .dirty_io_schedulers = 1,
                                              .processes = 50,
                                              .node = full_text(full, i ? "b@host" : "a@host"),
                                              .otp_release = full_text(full, "27"),
                                              .erts = full_text(full, "15.0"),
                                              .flavor = full_text(full, "jit"),
                                              .executable = full_text(full, "/usr/lib/beam.smp"),
                                              .container = full_text(full, "0123456789ab"),
                                              .layout = full_text(full, "dwarf"),
                                              .host = i ? full_text(full, "other") : 0,
                                          });
}

static inline target_id full_target(const struct full_profile *full, uint32_t flag, int number)
{
    return full_has(full, flag) ? 0 : full->targets[number % 2];
}

static inline void full_add_threads(struct full_profile *full)
{
    static const char *const names[] = {"erts_sched_1", "erts_dcpus_1", "erts_aux_1"};

    for (int i = 0; i < 3; i++)
        full->threads[i] = profile_thread(
            full->profile, &(struct thread_entry){
                               .target = full_target(full, FULL_THREAD_WITHOUT_TARGET, i),
                               .tid = 200 + (uint32_t)i,
                               .name = full_text(full, names[i]),
                               .scheduler_kind = (uint16_t)(i < 2 ? i + 1 : SCHEDULER_NONE),
                               .scheduler_number = i < 2,
                           });
}

static inline void full_add_processes(struct full_profile *full)
{
    static const char *const names[] = {"kernel_sup", "cart", "worker"};
    struct profile *profile = full->profile;
    ancestor_id root = profile_ancestor(profile, 0, full_text(full, "app_sup"));
    ancestor_id near = profile_ancestor(profile, root, full_text(full, "pool"));

    for (int i = 0; i < 3; i++)
        full->processes[i] = profile_process(
            profile, &(struct process_entry){
                         .identity = 0x553 + (uint64_t)i * 16,
                         .target = full_target(full, FULL_PROCESS_WITHOUT_TARGET, i),
                         .pid = full_text(full, i ? "<0.85.0>" : "<0.86.0>"),
                         .name = full_text(full, names[i]),
                         .label = full_text(full, "{label, 1}"),
                         .label_is_detail = i == 2,
                         .initial_call = full_text(full, "cart:init/1"),
                         .application = full_text(full, "shop"),
                         .parent = i ? full->processes[i - 1] : 0,
                         .ancestors = i && !full_has(full, FULL_NO_ANCESTORS) ? near : 0,
                     });
}

static inline frame_id full_frame(struct full_profile *full, const char *symbol, const char *path,
                                  enum frame_kind kind, uint64_t address)
{
    bool is_nameless = kind == FRAME_NATIVE && full_has(full, FULL_NO_NAMES);
    struct profile *profile = full->profile;
    struct module module = {full_has(full, FULL_FOREIGN_TEXTS) ? full_text(full, path)
                                                               : profile_string_z(profile, path),
                            full_text(full, "5e1c0ffee0")};

    return profile_frame(profile, &(struct frame){
                                      .address = address,
                                      .likeness = is_nameless ? 7 : 0,
                                      .symbol = full_text(full, symbol),
                                      .module = *path && !full_has(full, FULL_NO_MODULE)
                                                    ? profile_module(profile, &module)
                                                    : 0,
                                      .file = *path ? 0 : full_text(full, "src/cart.erl"),
                                      .line = *path ? 0 : 12,
                                      .kind = (uint8_t)kind,
                                      .unresolved = is_nameless || kind == FRAME_RUNTIME,
                                  });
}

static inline void full_add_stacks(struct full_profile *full)
{
    struct profile *profile = full->profile;
    frame_id bottom = full_frame(full, "proc_lib:init_p/5", "", FRAME_ERLANG, 0x7f20aabb0000);
    frame_id loop = full_frame(full, "cart:loop/1", "", FRAME_ERLANG, 0x7f20aabb1000);

    full->stacks[0] = profile_stack(profile, 0, bottom);
    full->stacks[1] = profile_stack(profile, full->stacks[0], loop);
    full->stacks[2] = profile_stack(
        profile, full->stacks[1], full_frame(full, "erlang:md5/1", "", FRAME_BIF, 0x7f20aabb2000));
    full->stacks[3] =
        profile_stack(profile, full->stacks[2],
                      full_frame(full, "memcpy", "/lib/libc.so.6 (deleted)", FRAME_NATIVE, 0x1000));
    full->stacks[4] = profile_stack(
        profile, full->stacks[3],
        full_frame(full, "do_syscall_64", "[kernel.kallsyms]", FRAME_KERNEL, UINT64_MAX - 0xfff));
    for (int i = 0; full_has(full, FULL_DEEP) && i < 3000; i++)
        full->stacks[1] = profile_stack(profile, full->stacks[1], loop);
}

/* Each second sample is of a span. */
static inline trace_span_id full_trace_span(const struct full_profile *full, int number)
{
    const struct trace_span span = {
        .trace_high = full_number(full, FULL_HUGE_VALUES, 1),
        .trace_low = full_number(full, FULL_HUGE_VALUES, 2),
        .span = full_number(full, FULL_HUGE_VALUES, (uint64_t)number + 1),
    };

    return number % 2 ? profile_trace_span(full->profile, &span) : 0;
}

static inline struct sample full_sample(const struct full_profile *full, event_id event, int number)
{
    uint64_t end = full_has(full, FULL_HUGE_TIMES) ? UINT64_MAX - 1000000000 : 1000000000;
    struct sample sample = {
        .time = end + (uint64_t)number * 10000000 + event * 1000,
        .event = event,
        .stack = full_has(full, FULL_NO_STACK) ? 0 : full->stacks[number % 5],
        .process = full_has(full, FULL_NO_PROCESS) || number == 4 ? 0 : full->processes[number % 3],
        .peer = full_has(full, FULL_NO_PEER) ? 0 : full->processes[(number + 1) % 3],
        .thread = full_has(full, FULL_NO_THREAD) || number == 5 ? 0 : full->threads[number % 3],
        .detail = full_has(full, FULL_NO_DETAIL) ? 0 : full_text(full, "tcp_inet"),
        .trace_span = full_trace_span(full, number),
        .cpu = (uint16_t)number,
        .status = (uint8_t)(number % STATUS_COUNT),
        .activity = (uint8_t)(number % ACTIVITY_COUNT),
        .microstate = (uint8_t)(number % MICROSTATE_COUNT),
        .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE,
    };

    for (uint32_t i = 0; i < profile_get_event(full->profile, event)->value_count; i++)
        sample.values[i] = full_number(full, FULL_HUGE_VALUES, (uint64_t)number * 10000000 + i);
    if (event_is_sched(full->profile, event) && number % 2 == 0)
        sample.values[SCHED_LONG] = 0;
    else if (event_is_sched(full->profile, event))
        sample.slice = full_number(full, FULL_HUGE_VALUES, (uint64_t)number);
    for (int i = 0; sample.process && i < METRICS; i++)
        metrics_set(&sample.metrics, (enum metric)i,
                    full_number(full, FULL_HUGE_VALUES, (uint64_t)number * 10 + (uint64_t)i));
    return sample;
}

static inline void full_put_summary(const struct full_profile *full,
                                    struct recording_writer *writer, event_id event)
{
    struct event_histogram histogram = {profile_string_z(full->profile, "pause"), UNIT_NS, 4, {0}};
    struct event_tally tally = {profile_string_z(full->profile, "put off"),
                                full_number(full, FULL_HUGE_COUNTS, 5), 5};
    struct event_summary summary = {
        .event = event,
        .hits = full_number(full, FULL_HUGE_COUNTS, 1234),
        .lost = full_number(full, FULL_HUGE_COUNTS, 2),
        .span_ns = full_number(full, FULL_HUGE_COUNTS, 2500000000),
        .covered_ns = full_number(full, FULL_HUGE_COUNTS, 1000000000),
        .windows = full_number(full, FULL_HUGE_COUNTS, 13),
        .cost_ns = full_number(full, FULL_HUGE_COUNTS, 12000000),
        .target_cpu_ns = full_number(full, FULL_HUGE_COUNTS, 2000000000),
        .histograms = &histogram,
        .histogram_count = 1,
        .tallies = &tally,
        .tally_count = 1,
    };
    struct error error;

    histogram_add(&histogram.histogram, 1000, full_number(full, FULL_HUGE_COUNTS, 3));
    histogram_add(&histogram.histogram, full_number(full, FULL_HUGE_COUNTS, 50000), 1);
    for (int i = 0; i < EVENT_VALUES; i++) {
        summary.sums[i] = full_number(full, FULL_HUGE_COUNTS, 100000 * (uint64_t)i);
        summary.errors[i] = full_number(full, FULL_HUGE_COUNTS, 1000 * (uint64_t)i);
    }
    if (recording_put_summary(writer, full->profile, &summary, &error))
        abort();
}

static inline void full_put_threads(const struct full_profile *full,
                                    struct recording_writer *writer)
{
    struct thread_times times = {0};
    struct error error;

    for (int i = 0; i < 3; i++)
        thread_times_add(&times, &(struct thread_time){
                                     .thread = full->threads[i],
                                     .from = 1000000000,
                                     .to = full_number(full, FULL_HUGE_COUNTS, 2000000000),
                                     .cpu_ns = full_number(full, FULL_HUGE_COUNTS, 300000000),
                                     .wait_ns = full_number(full, FULL_HUGE_COUNTS, 200000),
                                     .sampled_ns = full_number(full, FULL_HUGE_COUNTS, 290000000),
                                 });
    if (recording_put_threads(writer, full->profile, &times, &error))
        abort();
    thread_times_free(&times);
}

static inline void full_put_marks(const struct full_profile *full, struct recording_writer *writer)
{
    const struct time_mark mark = {.time = full_number(full, FULL_HUGE_COUNTS, 1001000000),
                                   .label = profile_string_z(full->profile, "</script>\"'")};
    struct time_marks marks = {0};
    struct error error;

    time_marks_add(&marks, &mark);
    if (recording_put_marks(writer, full->profile, &marks, &error))
        abort();
    time_marks_free(&marks);
}

static inline void full_put_lives(const struct full_profile *full, struct recording_writer *writer)
{
    struct target_lives lives = {0};
    struct error error;

    *target_life_of(&lives, 1) = (struct target_life){
        .target = 1,
        .ended = full_number(full, FULL_HUGE_COUNTS, 1500000000),
        .stopped_ns = full_number(full, FULL_HUGE_COUNTS, 200000000),
    };
    if (recording_put_lives(writer, full->profile, &lives, &error))
        abort();
    target_lives_free(&lives);
}

/* A table that grows, and the atoms. */
static inline void full_put_node_metrics(const struct full_profile *full,
                                         struct recording_writer *writer)
{
    const uint64_t values[] = {40000, full_number(full, FULL_HUGE_COUNTS, 900000), 0};
    const struct node_series_key keys[] = {
        {.target = 1, .metric = NODE_TABLE_BYTES, .of = 1, .id = 2},
        {.target = 1, .metric = NODE_ATOMS},
    };
    struct node_metrics metrics = {0};
    struct error error;

    for (int i = 0; i < 6; i++)
        node_metrics_add(&metrics, node_metrics_place(&metrics, &keys[i / 3]),
                         full_number(full, FULL_HUGE_TIMES, 1000000000 + 500000000u * (i % 3u)),
                         values[i % 3]);
    metrics.of[0].owner = profile_counts(full->profile).processes ? 1 : 0;
    if (recording_put_node_metrics(writer, full->profile, &metrics, &error))
        abort();
    node_metrics_free(&metrics);
}

/* The recorder ran for the first second and from then on; gc had two windows, msg none. Event gc
 * was recorded for two parts of the time. */
static inline void full_put_spans(const struct full_profile *full, struct recording_writer *writer)
{
    struct event_spans spans = {0};
    uint64_t last = full_number(full, FULL_HUGE_TIMES, 2500000000);
    struct error error;

    event_spans_add(&spans, 0, 1000000000, 2000000000);
    event_spans_add(&spans, 0, 2200000000, last);
    event_spans_add(&spans, event_find(full->profile, EVENT_GC), 900000000, 1200000000);
    event_spans_add(&spans, event_find(full->profile, EVENT_GC), 1500000000, last);
    event_spans_place(&spans, event_find(full->profile, EVENT_MSG));
    if (recording_put_spans(writer, full->profile, &spans, &error))
        abort();
    event_spans_drop(&spans, 0);
    event_spans_drop(&spans, event_find(full->profile, EVENT_MSG));
    if (recording_put_recorded(writer, full->profile, &spans, &error))
        abort();
    event_spans_free(&spans);
}

/* Give frames of native functions their names again, as if they had become known late. */
static inline void full_name_frames(const struct full_profile *full,
                                    struct recording_writer *writer)
{
    const struct profile *profile = full->profile;

    for (frame_id id = 1; id <= profile_counts(profile).frames; id++) {
        const struct frame *frame = profile_get_frame(profile, id);

        if (frame->kind == FRAME_NATIVE && frame->symbol)
            recording_name_frame(writer, id, 0, profile_text(profile, frame->symbol));
    }
}

static inline struct recording_totals full_totals(const struct full_profile *full)
{
    struct recording_totals totals = {0};
    uint64_t *const numbers[] = {
        &totals.samples,
        &totals.erlang_samples,
        &totals.complete_stacks,
        &totals.truncated_stacks,
        &totals.frames,
        &totals.erlang_frames,
        &totals.attach_ns,
        &totals.unknown_erlang_frames,
        &totals.unknown_native_frames,
        &totals.profiler_cpu_ns,
        &totals.peak_rss_kb,
        &totals.cpu_samples,
        &totals.cpu_sampled_ns,
        &totals.cpu_accounted_ns,
        &totals.left_out,
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        *numbers[i] = full_number(full, FULL_HUGE_COUNTS, 40 + i);
    for (int i = 0; i < LOSS_COUNT; i++)
        totals.losses[i] = full_number(full, FULL_HUGE_COUNTS, (uint64_t)i);
    totals.end_monotonic = full_has(full, FULL_HUGE_TIMES) ? UINT64_MAX : 3500000000;
    return totals;
}

/* Write the recording of these flags to `fd`, which is taken over. Return a descriptor that reads
 * it from its start. */
static inline int full_recording(int fd, uint32_t flags)
{
    const bool is_foreign = flags & FULL_FOREIGN_TEXTS;
    const char *text = is_foreign ? FULL_FOREIGN_BEFORE "text" FULL_FOREIGN_AFTER : "text";
    const char *const events[] = {
        EVENT_CPU,          EVENT_WALL,
        EVENT_GC,           EVENT_ALLOC,
        EVENT_MSG,          EVENT_SCHED,
        "bif:erlang:md5/1", is_foreign ? "usdt:a:b" FULL_FOREIGN_AFTER : "usdt:a:b"};
    const struct recording_header header = {
        .start_realtime = 1763697012000000000,
        .start_monotonic = 1000000000,
        .frequency = 100,
        .cpus = 2,
        .event = is_foreign ? text : "cpu-clock",
        .hostname = text,
        .kernel = text,
        .command = text,
        .version = is_foreign ? text : "0.1.0",
        .trigger = text,
    };
    struct full_profile full = {.profile = profile_new(), .flags = flags};
    struct recording_totals totals = full_totals(&full);
    struct error error;
    struct recording_writer *writer = recording_create_fd(fd, &header, &error);
    event_id ids[8];
    int result = -1;

    if (!writer)
        abort();
    for (int i = 0; i < 8; i++)
        ids[i] = event_define(full.profile, events[i]);
    full_add_targets(&full);
    full_add_threads(&full);
    full_add_processes(&full);
    full_add_stacks(&full);
    for (int number = 0; number < 6; number++) {
        for (int i = 0; i < 8; i++) {
            struct sample sample = full_sample(&full, ids[i], number);

            if (recording_append(writer, full.profile, &sample, &error))
                abort();
        }
    }
    for (int i = 0; i < 8 && !full_has(&full, FULL_NO_SUMMARY); i++)
        full_put_summary(&full, writer, ids[i]);
    if (!full_has(&full, FULL_NO_THREAD_TIMES))
        full_put_threads(&full, writer);
    if (profile_counts(full.profile).targets)
        full_put_lives(&full, writer);
    full_put_marks(&full, writer);
    full_name_frames(&full, writer);
    if (profile_counts(full.profile).targets)
        full_put_node_metrics(&full, writer);
    if (!full_has(&full, FULL_NO_SUMMARY))
        full_put_spans(&full, writer);
    if (recording_finish(writer, full.profile, &totals, &result, &error))
        abort();
    profile_free(full.profile);
    return result;
}
