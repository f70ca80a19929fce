// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/call_counter_internal.h"
#include "util/clock.h"

/* Calls are followed from when all threads have the breakpoint. */
int call_counter_arm_return(struct call_counter *counter, uint64_t address, struct error *error)
{
    int program = bpf_program__fd(counter->skeleton->progs.end_call);
    uint64_t since;

    if (call_counter_set(counter, address, program, WIRE_CALL_RETURN, error))
        return -1;
    since = clock_ns(CLOCK_MONOTONIC);
    bpf_map_update_elem(bpf_map__fd(counter->skeleton->maps.returns), &address, &since, 0);
    return 0;
}

void call_counter_forget_return(struct call_counter *counter, uint64_t address)
{
    bpf_map_delete_elem(bpf_map__fd(counter->skeleton->maps.returns), &address);
    call_counter_disarm(counter, address);
}

double call_counter_own_ns(const struct call_counter *counter)
{
    return (double)counter->skeleton->bss->own_time;
}

/* Forget what the process has done since its outermost call, if that is the one. */
static void forget_time(const struct call_counter *counter, const struct wire_call_frame *frame)
{
    int map = bpf_map__fd(counter->skeleton->maps.process_times);
    struct wire_process_time time;

    if (!bpf_map_lookup_elem(map, &frame->process, &time) && time.depth == frame->depth)
        bpf_map_delete_elem(map, &frame->process);
}

/* The next key is taken before a visit, which may remove the entry. */
void call_counter_each_open(const struct call_counter *counter, call_counter_visit_open visit,
                            void *context)
{
    int map = bpf_map__fd(counter->skeleton->maps.open_calls);
    int arguments = bpf_map__fd(counter->skeleton->maps.open_arguments);
    struct wire_call_frame frame, next;
    bool more = !bpf_map_get_next_key(map, NULL, &next);

    while (more) {
        struct wire_open_call call;

        frame = next;
        more = !bpf_map_get_next_key(map, &frame, &next);
        if (!bpf_map_lookup_elem(map, &frame, &call) && visit(context, &frame, &call)) {
            bpf_map_delete_elem(map, &frame);
            bpf_map_delete_elem(arguments, &frame); /* it may have none */
            if (counter->split)
                forget_time(counter, &frame);
        }
    }
}

void call_counter_each_time(const struct call_counter *counter, call_counter_visit_time visit,
                            void *context)
{
    int map = bpf_map__fd(counter->skeleton->maps.times);
    struct wire_time_key key;
    struct wire_time_row row;
    bool is_begun = false;

    while (call_counter_next_key(map, &is_begun, &key))
        if (!bpf_map_lookup_elem(map, &key, &row))
            visit(context, &key, &row);
}

void call_counter_each_part(const struct call_counter *counter, call_counter_visit_part visit,
                            void *context)
{
    int map = bpf_map__fd(counter->skeleton->maps.part_times);
    struct wire_part_key key;
    struct wire_part_row row;
    bool is_begun = false;

    while (call_counter_next_key(map, &is_begun, &key))
        if (!bpf_map_lookup_elem(map, &key, &row))
            visit(context, &key, &row);
}

/* ---- slow calls ---- */

static int pass_slow(void *context, void *data, size_t size)
{
    const struct call_counter *counter = context;
    struct wire_slow_call call;

    if (size < sizeof(call))
        return 0;
    memcpy(&call, data, sizeof(call));
    if (call.function < WIRE_CALL_FUNCTIONS && call.words <= WIRE_SLOW_WORDS)
        counter->visit_slow(counter->slow_context, &call);
    return 0;
}

int call_counter_list_slow(struct call_counter *counter, struct error *error)
{
    counter->slow =
        ring_buffer__new(bpf_map__fd(counter->skeleton->maps.slow), pass_slow, counter, NULL);
    if (counter->slow)
        return 0;
    return error_set(error, ERROR_FAILED, "the ring buffer can't be mapped: %s", strerror(errno));
}

void call_counter_each_slow(struct call_counter *counter, call_counter_visit_slow visit,
                            void *context)
{
    counter->visit_slow = visit;
    counter->slow_context = context;
    ring_buffer__consume(counter->slow);
}
