// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "calls/call_windows_internal.h"
#include "util/clock.h"

/* Functions of before or after a change. */
struct function_list {
    const uint32_t *of;
    size_t count;
};

static bool has(struct function_list list, uint32_t function)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.of[i] == function)
            return true;
    return false;
}

/* Those that are only in the first list have left, those that are only in the second have come. */
static void note_change(struct call_windows *windows, struct function_list before,
                        struct call_moment left, struct function_list after,
                        struct call_moment came)
{
    for (size_t i = 0; i < before.count; i++)
        if (!has(after, before.of[i]))
            windows->functions[before.of[i]].ended = left;
    for (size_t i = 0; i < after.count; i++)
        if (!has(before, after.of[i]))
            call_windows_begin_function(windows, after.of[i], came);
}

/* Set the breakpoints of one group in place of those of another, while the counter is open. */
static int change_in_place(struct call_windows *windows, struct function_list before,
                           struct function_list after, struct error *error)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct call_moment left = call_windows_look_at_group(windows, clock_ns(CLOCK_MONOTONIC)), came;
    struct error again;

    call_windows_list(windows, after.of, after.count);
    if (call_windows_arm(windows, 0, error)) {
        call_windows_list(windows, before.of, before.count);
        return call_windows_arm(windows, 0, &again) ? -1 : 1;
    }
    came = call_windows_look(windows, clock_ns(CLOCK_MONOTONIC));
    for (size_t i = 0; i < before.count; i++)
        if (!has(after, before.of[i]))
            call_windows_end_window(windows, &windows->functions[before.of[i]], &left, 0);
    note_change(windows, before, left, after, came);
    call_windows_pay(windows, cpu);
    return 0;
}

/* Set the breakpoints of each group, to see if others leave as many. */
static int try_groups(struct call_windows *windows, struct error *error)
{
    for (uint32_t i = 0; i < windows->groups; i++)
        if (call_windows_arm(windows, i, error))
            return -1;
    return 0;
}

/* The counter is closed. Return as call_windows_change() does. */
static int change_groups(struct call_windows *windows, struct function_list before,
                         struct function_list after, struct error *error)
{
    struct call_moment left = call_windows_look(windows, clock_ns(CLOCK_MONOTONIC));
    struct error again;

    call_windows_scale_all(windows);
    call_windows_list(windows, after.of, after.count);
    if (try_groups(windows, error)) {
        call_windows_list(windows, before.of, before.count);
        return try_groups(windows, &again) ? -1 : 1;
    }
    call_windows_scale_all(windows);
    note_change(windows, before, left, after,
                call_windows_look(windows, clock_ns(CLOCK_MONOTONIC)));
    return 0;
}

int call_windows_change(struct call_windows *windows, const uint32_t *functions, size_t count,
                        struct error *error)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint32_t listed[WIRE_CALL_FUNCTIONS];
    struct function_list before = {listed, windows->listed_count}, after = {functions, count};
    bool is_continuous = call_windows_stay_open(windows);
    int result;

    memcpy(listed, windows->listed, sizeof(listed));
    if (is_continuous && windows->groups == 1 && count <= windows->options.group_size)
        return change_in_place(windows, before, after, error);
    if (is_continuous)
        call_windows_end_turn(windows);
    else if (windows->is_open)
        call_windows_close(windows);
    result = change_groups(windows, before, after, error);
    if (result < 0 || !is_continuous)
        return result;
    if (call_windows_open(windows, 1, error))
        return -1;
    call_windows_pay(windows, cpu);
    return result;
}

const uint32_t *call_windows_functions(const struct call_windows *windows, size_t *ret_count)
{
    *ret_count = windows->listed_count;
    return windows->listed;
}

uint32_t call_windows_groups(const struct call_windows *windows)
{
    return windows->groups;
}
