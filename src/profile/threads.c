// SPDX-License-Identifier: Apache-2.0
#include "profile/threads.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/span.h"

/* A name is `before`, a number, `after` and any text: the kernel keeps only 15 bytes of a name. */
static const struct {
    enum thread_type type;
    const char *before, *after;
} patterns[] = {
    /* OTP 26 and later (erl_process.c 27.3.4.1:8853, erl_async.c 27.3.4.1:202). */
    {THREAD_SCHEDULER, "erts_sched_", ""},
    {THREAD_DIRTY_CPU, "erts_dcpus_", ""},
    {THREAD_DIRTY_IO, "erts_dios_", ""},
    {THREAD_AUX, "erts_aux_", ""},
    {THREAD_POLL, "erts_poll_", ""},
    {THREAD_ASYNC, "erts_async_", ""},
    /* OTP 25 and before (erl_process.c 25.2.3:8810, erl_async.c 25.2.3:202). */
    {THREAD_SCHEDULER, "", "_scheduler"},
    {THREAD_DIRTY_CPU, "", "_dirty_cpu"},
    {THREAD_DIRTY_IO, "", "_dirty_io"},
    {THREAD_AUX, "", "_aux"},
    {THREAD_POLL, "", "_poller"},
    {THREAD_ASYNC, "async_", ""},
};

enum thread_type thread_type_of(const char *name, uint32_t *ret_number)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        const char *digits = name + strlen(patterns[i].before);
        char *after;

        if (!begins_with(name, patterns[i].before) || !isdigit((unsigned char)*digits))
            continue;
        *ret_number = (uint32_t)strtoul(digits, &after, 10);
        if (!begins_with(after, patterns[i].after))
            continue;
        if (patterns[i].type == THREAD_ASYNC && *ret_number)
            --*ret_number; /* microstate accounting counts these from 0 */
        return patterns[i].type;
    }
    *ret_number = 0;
    return THREAD_OTHER;
}

const char *thread_type_name(enum thread_type type)
{
    static const char *const names[] = {
        [THREAD_SCHEDULER] = "scheduler",
        [THREAD_DIRTY_CPU] = "dirty_cpu_scheduler",
        [THREAD_DIRTY_IO] = "dirty_io_scheduler",
        [THREAD_AUX] = "aux",
        [THREAD_POLL] = "poll",
        [THREAD_ASYNC] = "async",
        [THREAD_OTHER] = "other",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == THREAD_TYPES, "one name each");

    return type < THREAD_TYPES ? names[type] : "unknown";
}

void thread_times_add(struct thread_times *times, const struct thread_time *time)
{
    times->list = xgrow(times->list, &times->room, times->count, sizeof(*times->list));
    times->list[times->count++] = *time;
}

/* Descending; equal times by thread. */
static int compare_times(const void *a, const void *b)
{
    const struct thread_time *left = a, *right = b;
    uint64_t left_ns = left->cpu_ns + left->wait_ns, right_ns = right->cpu_ns + right->wait_ns;

    if (left_ns != right_ns)
        return left_ns < right_ns ? 1 : -1;
    return (left->thread > right->thread) - (left->thread < right->thread);
}

size_t thread_times_limit(struct thread_times *times)
{
    size_t removed;

    if (times->count <= THREAD_TIMES_MAX)
        return 0;
    removed = times->count - THREAD_TIMES_MAX;
    qsort(times->list, times->count, sizeof(*times->list), compare_times);
    times->count = THREAD_TIMES_MAX;
    return removed;
}

void thread_times_free(struct thread_times *times)
{
    free(times->list);
    *times = (struct thread_times){0};
}

void thread_times_encode(const struct thread_times *times, struct buffer *bytes)
{
    buffer_varint(bytes, times->count);
    for (size_t i = 0; i < times->count; i++) {
        const struct thread_time *time = &times->list[i];

        buffer_varint(bytes, time->thread);
        buffer_varint(bytes, time->from);
        buffer_varint(bytes, time->to - time->from);
        buffer_varint(bytes, time->cpu_ns);
        buffer_varint(bytes, time->wait_ns);
        buffer_varint(bytes, time->sampled_ns);
    }
}

/* Fields are assigned one by one: an initializer list may be evaluated in any order. */
static void decode_time(struct cursor *cursor, const struct profile *profile,
                        struct thread_time *time)
{
    time->thread =
        (thread_id)cursor_varint(cursor, profile_counts(profile).threads, "thread is not defined");
    if (!time->thread)
        cursor_fail(cursor, "times of no thread");
    time->from = cursor_varint(cursor, UINT64_MAX, "");
    time->to = time->from + cursor_varint(cursor, UINT64_MAX - time->from, "time is too large");
    time->cpu_ns = cursor_varint(cursor, UINT64_MAX, "");
    time->wait_ns = cursor_varint(cursor, UINT64_MAX, "");
    time->sampled_ns = cursor_varint(cursor, UINT64_MAX, "");
}

void thread_times_decode(struct thread_times *times, const struct profile *profile,
                         struct cursor *cursor)
{
    uint64_t count = cursor_varint(cursor, UINT64_MAX, "");

    times->count = 0;
    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        struct thread_time time;

        decode_time(cursor, profile, &time);
        if (!cursor->problem)
            thread_times_add(times, &time);
    }
}
