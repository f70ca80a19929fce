// SPDX-License-Identifier: Apache-2.0
#include "capture/sched_hit.h"

#include "profile/events.h"

/* The status of a process while it is off and in no run queue. A process that left with more to do
 * is in no run queue only if it was suspended meanwhile. */
static enum process_status status_off_queue(uint32_t left)
{
    switch (left) {
    case WIRE_SCHED_EXITING:
        return STATUS_EXITING;
    case WIRE_SCHED_WAITING:
    case WIRE_SCHED_UNKNOWN:
        return STATUS_WAITING;
    default:
        return STATUS_SUSPENDED;
    }
}

/* The status of a process when it leaves. */
static enum process_status status_leaving(uint32_t left)
{
    switch (left) {
    case WIRE_SCHED_WAITING:
    case WIRE_SCHED_SUSPENDED:
    case WIRE_SCHED_EXITING:
        return status_off_queue(left);
    default:
        return STATUS_RUNNABLE;
    }
}

/* A part of a long slice. Only the last part has another status than running. */
static struct event_part long_part(const struct wire_hit *hit)
{
    return (struct event_part){.status = hit->kind == WIRE_SCHED_LONG
                                             ? STATUS_RUNNING
                                             : status_leaving(hit->kind - WIRE_SCHED_LONG_END),
                               .stands_alone = true,
                               .values = {[SCHED_LONG] = hit->values[SCHED_LONG]}};
}

int sched_parts(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX])
{
    uint64_t delay = hit->values[SCHED_DELAY], off_queue = hit->values[SCHED_WAIT] - delay;
    int count = 0;

    if (hit->kind >= WIRE_SCHED_LONG) {
        parts[0] = long_part(hit);
        return 1;
    }
    if (off_queue)
        parts[count++] = (struct event_part){.status = status_off_queue(hit->kind),
                                             .shows_status = true,
                                             .values = {[SCHED_WAIT] = off_queue}};
    if (delay || !count)
        parts[count++] =
            (struct event_part){.status = STATUS_RUNNABLE,
                                .shows_status = true,
                                .values = {[SCHED_WAIT] = delay, [SCHED_DELAY] = delay}};
    parts[0].values[SCHED_COUNT] = hit->values[SCHED_COUNT];
    return count;
}
