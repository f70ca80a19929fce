// SPDX-License-Identifier: Apache-2.0
/* The processes that ran when a sweep visited them. */
#include "session/wall_internal.h"

#include "beam/process_metrics.h"
#include "util/alloc.h"

enum {
    CPU_INTERVALS = 3, /* a process that continues to run is sampled by then */
};

static void append(struct wall *wall, struct sample *sample)
{
    wall->segment->totals.erlang_samples++;
    wall->segment->totals.complete_stacks += !!(sample->flags & SAMPLE_COMPLETE);
    wall_append(wall, sample);
}

void wall_running_add(struct wall *wall, const struct swept_process *swept)
{
    struct sample sample = {
        .time = wall->now,
        .process =
            symbolizer_process(wall->symbolizer, swept_process_id(wall->vm, swept), wall->now),
        .status = (uint8_t)swept_process_status(wall->vm, swept),
        .flags = SAMPLE_ERLANG,
    };

    /* The metrics are read by the sweep, as for all other processes. A CPU sample may be later: its
     * metrics could seem to go back at the next sweep. */
    process_metrics_read(wall->vm, swept->bytes, NULL, &sample.metrics);
    wall->pending =
        xgrow(wall->pending, &wall->pending_room, wall->pending_count, sizeof(*wall->pending));
    wall->pending[wall->pending_count++] = (struct pending){
        sample, swept->address, swept_process_id(wall->vm, swept), wall->now, false};
}

/* Append a sample of a running process, with the stack of a CPU sample of it, before or after the
 * sweep. So each stack gets its share of the time that the process runs. */
static void append_running(struct wall *wall, struct pending *pending, const struct sample *cpu)
{
    struct sample sample = pending->sample;

    sample.stack = cpu->stack;
    sample.thread = cpu->thread;
    sample.cpu = cpu->cpu;
    sample.microstate = cpu->microstate;
    sample.flags = cpu->flags;
    sample.trace_span = cpu->trace_span;
    append(wall, &sample);
    pending->done = true;
}

static void drop_done(struct wall *wall)
{
    size_t kept = 0;

    for (size_t i = 0; i < wall->pending_count; i++)
        if (!wall->pending[i].done)
            wall->pending[kept++] = wall->pending[i];
    wall->pending_count = kept;
}

static void append_unsampled(struct wall *wall, struct pending *pending)
{
    wall->tallies[WALL_UNSAMPLED]++;
    wall->segment->totals.losses[LOSS_STACK_INCOMPLETE]++;
    append(wall, &pending->sample);
    pending->done = true;
}

/* Append a process that has not been on a CPU since the sweep. False if it has. */
static bool append_waiting(struct wall *wall, struct pending *pending)
{
    struct recording_totals counted = {0}; /* not used: append() counts it */
    struct sample sample;

    if (!symbolizer_waiting(wall->symbolizer, wall->sweep, pending->address, pending->id, &sample,
                            &counted))
        return false;
    append_running(wall, pending, &sample);
    return true;
}

void wall_running_settle(struct wall *wall, bool all)
{
    uint64_t wait = CPU_INTERVALS * wall->options.cpu_interval;

    for (size_t i = 0; i < wall->pending_count; i++) {
        struct pending *pending = &wall->pending[i];
        const struct sample *recent = wall_recent_get(&wall->recent, pending->sample.process);
        uint64_t age = wall->now - pending->sample.time;

        if (!all && age <= STACK_NS && wall->now - pending->looked < wait)
            continue;
        pending->looked = wall->now;
        if (append_waiting(wall, pending))
            continue;
        if (recent && recent->time + STACK_NS > pending->sample.time)
            append_running(wall, pending, recent);
        else if (all || age > STACK_NS)
            append_unsampled(wall, pending);
    }
    drop_done(wall);
}

int wall_cpu_sample(struct wall *wall, const struct sample *sample, struct segment *segment,
                    struct error *error)
{
    wall->now = sample->time;
    wall->segment = segment;
    wall->error = error;
    wall->result = 0;
    if (!sample->process)
        return 0;
    wall_recent_put(&wall->recent, sample);
    for (size_t i = 0; i < wall->pending_count; i++)
        if (wall->pending[i].sample.process == sample->process)
            append_running(wall, &wall->pending[i], sample);
    drop_done(wall);
    return wall->result;
}
