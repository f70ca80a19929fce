// SPDX-License-Identifier: Apache-2.0
#include "profile/thread_time.h"

#include <stdlib.h>

#include "util/alloc.h"

void thread_times_add(struct thread_times *times, const struct thread_time *time)
{
    times->list = xgrow(times->list, &times->room, times->count, sizeof(*times->list));
    times->list[times->count++] = *time;
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
