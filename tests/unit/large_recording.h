// SPDX-License-Identifier: Apache-2.0
/* A recording with so many stacks that its profiles are larger than services take. */
#pragma once

#include "small_profile.h"

#include "util/alloc.h"

/* Each stack has one sample. The sanitizers make all of it several times slower. */
#ifdef __SANITIZE_ADDRESS__
enum { LARGE_VMS = 2, LARGE_STACKS = 30000 /* of each VM */ };
#else
enum { LARGE_VMS = 2, LARGE_STACKS = 50000 };
#endif

static inline void large_append_vm(struct recording_writer *writer, struct profile *p, int vm)
{
    char *name = xasprintf("shop%d@web", vm);
    struct error error;
    target_id target =
        profile_target(p, &(struct target_entry){.pid = 100 + (uint32_t)vm,
                                                 .node = profile_string_z(p, name),
                                                 .otp_release = profile_string_z(p, "27")});
    thread_id thread = profile_thread(p, &(struct thread_entry){.target = target, .tid = 102});

    free(name);
    for (int i = 0; i < LARGE_STACKS; i++) {
        char *symbol = xasprintf("a_module_with_a_long_name:function_%d/%d", i, i % 5);
        frame_id frame = small_frame(p, symbol, "", FRAME_ERLANG, 0);
        struct sample sample = {.time = 2000000000 + (uint64_t)(vm * LARGE_STACKS + i),
                                .values = {[CPU_TIME] = 10000000},
                                .event = event_define(p, EVENT_CPU),
                                .stack = profile_stack(p, 0, frame),
                                .thread = thread,
                                .status = STATUS_RUNNING,
                                .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE};

        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
        free(symbol);
    }
}

/* Write it to an unnamed file, and return its descriptor. `start`: ns since 1970. */
static inline int large_recording(uint64_t start)
{
    struct profile *p = profile_new();
    struct recording_totals totals = small_totals();
    struct recording_header header = small_header;
    struct recording_writer *writer;
    struct error error;
    int fd = -1;

    header.start_realtime = start;
    writer = recording_create(NULL, "/tmp", &header, &error);
    assert_non_null(writer);
    for (int vm = 0; vm < LARGE_VMS; vm++)
        large_append_vm(writer, p, vm);
    totals.samples = LARGE_VMS * LARGE_STACKS;
    assert_int_equal(recording_finish(writer, p, &totals, &fd, &error), 0);
    profile_free(p);
    return fd;
}
