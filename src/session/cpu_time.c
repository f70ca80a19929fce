// SPDX-License-Identifier: Apache-2.0
#include "session/cpu_time.h"

#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"

enum {
    WINDOW_NS = 200000000,
    STEP_NS = 10000,
    HOLD_NS = 300000000, /* the recording sorts samples that come 0.5 s late */
    HELD_MAX = 1 << 13,  /* then a window ends early */
};

/* What is known of one VM. */
struct target_time {
    struct sample *held;
    size_t count, room;
    uint64_t began;     /* ns, when the window did */
    uint64_t accounted; /* by the kernel, until now */
    uint64_t due;       /* of that: not given to a sample yet */
    bool ended;         /* then it has no account, and samples keep their bases */
};

struct cpu_time {
    const struct targets *targets;
    struct target_time *of;
    uint64_t period;     /* of the clock, in its own unit */
    double ns_per_count; /* that it counts on a busy CPU */
    bool stopped;
    uint64_t *sampled; /* by thread id: sum of bases */
    size_t sampled_count;
    struct recording_totals totals; /* of the part */
};

/* What the kernel has accounted since is due. */
static void account(struct cpu_time *cpu_time, size_t target)
{
    struct target_time *own = &cpu_time->of[target];
    uint64_t now;

    if (cpu_time->stopped)
        return;
    own->ended = !process_cpu_time(cpu_time->targets->vms[target]->pid, &now);
    if (own->ended || now < own->accounted)
        return;
    own->due += now - own->accounted;
    cpu_time->totals.cpu_accounted_ns += now - own->accounted;
    own->accounted = now;
}

struct cpu_time *cpu_time_new(const struct clock_event *clock, uint64_t period, uint32_t frequency,
                              const struct targets *targets)
{
    struct cpu_time *cpu_time = xcalloc(1, sizeof(*cpu_time));

    cpu_time->targets = targets;
    cpu_time->of = xcalloc(targets->count, sizeof(*cpu_time->of));
    cpu_time->period = period;
    cpu_time->ns_per_count = clock->is_timer ? 1 : 1e9 / frequency / (double)period;
    for (size_t i = 0; i < targets->count; i++) {
        cpu_time->of[i].began = clock_ns(CLOCK_MONOTONIC);
        account(cpu_time, i);
        cpu_time->of[i].due = 0;
    }
    cpu_time->totals.cpu_accounted_ns = 0;
    return cpu_time;
}

void cpu_time_free(struct cpu_time *cpu_time)
{
    if (!cpu_time)
        return;
    for (size_t i = 0; i < cpu_time->targets->count; i++)
        free(cpu_time->of[i].held);
    free(cpu_time->of);
    free(cpu_time->sampled);
    free(cpu_time);
}

uint64_t cpu_time_base(const struct cpu_time *cpu_time, const struct snapshot *snapshot)
{
    const uint8_t *bytes = snapshot_segment(snapshot, SEGMENT_TICK, sizeof(uint64_t));
    uint64_t count = cpu_time->period, ns;

    if (bytes)
        memcpy(&count, bytes, sizeof(count));
    ns = (uint64_t)((double)count * cpu_time->ns_per_count);
    return ns ? ns : 1;
}

static void count_sampled(struct cpu_time *cpu_time, const struct sample *sample)
{
    if (sample->thread >= cpu_time->sampled_count) {
        size_t count = 2 * (size_t)sample->thread + 64;

        cpu_time->sampled = xreallocarray(cpu_time->sampled, count, sizeof(*cpu_time->sampled));
        memset(cpu_time->sampled + cpu_time->sampled_count, 0,
               (count - cpu_time->sampled_count) * sizeof(*cpu_time->sampled));
        cpu_time->sampled_count = count;
    }
    cpu_time->sampled[sample->thread] += sample->values[CPU_TIME];
}

void cpu_time_hold(struct cpu_time *cpu_time, size_t target, const struct sample *sample)
{
    struct target_time *own = &cpu_time->of[target];

    count_sampled(cpu_time, sample);
    cpu_time->totals.cpu_samples++;
    cpu_time->totals.cpu_sampled_ns += sample->values[CPU_TIME];
    own->held = xgrow(own->held, &own->room, own->count, sizeof(*own->held));
    own->held[own->count++] = *sample;
}

/* In steps, so that most samples have equal values and take little room; the whole is exact. */
static uint64_t part_of(uint64_t amount, uint64_t part, uint64_t whole)
{
    if (part == whole)
        return amount;
    return (uint64_t)((double)amount * ((double)part / (double)whole)) / STEP_NS * STEP_NS;
}

/* All held samples share what is due, by their bases. The first `count` get their share now. */
static void scale(struct target_time *own, size_t count)
{
    uint64_t whole = 0, done = 0, given = 0;

    for (size_t i = 0; i < own->count; i++)
        whole += own->held[i].values[CPU_TIME];
    for (size_t i = 0; i < count; i++) {
        uint64_t *value = &own->held[i].values[CPU_TIME], until;

        done += *value;
        until = part_of(own->due, done, whole);
        *value = until - given;
        given = until;
    }
    own->due -= given;
}

/* End the window of the first `count` held samples. */
static int settle(struct target_time *own, size_t count, struct part *part, struct error *error)
{
    int result = 0;

    if (own->due || !own->ended)
        scale(own, count);
    for (size_t i = 0; i < count && !result; i++)
        result = part_append(part, &own->held[i], error);
    memmove(own->held, own->held + count, (own->count - count) * sizeof(*own->held));
    own->count -= count;
    own->began = clock_ns(CLOCK_MONOTONIC);
    return result;
}

/* How many samples the window has that ends now, 0 if it goes on. The newest sample waits for the
 * next window, as long as it can: so there is one to take what is accounted until the end. */
static size_t window_of(const struct target_time *own, uint64_t now)
{
    if (!own->count || (now - own->began < WINDOW_NS && own->count < HELD_MAX))
        return 0;
    return now - own->held[own->count - 1].time < HOLD_NS ? own->count - 1 : own->count;
}

int cpu_time_settle(struct cpu_time *cpu_time, bool all, struct part *part, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < cpu_time->targets->count; i++) {
        struct target_time *own = &cpu_time->of[i];
        size_t count = all ? own->count : window_of(own, now);

        if (!all && !count)
            continue;
        account(cpu_time, i);
        if (count && settle(own, count, part, error))
            return -1;
    }
    return 0;
}

void cpu_time_stop(struct cpu_time *cpu_time)
{
    for (size_t i = 0; i < cpu_time->targets->count; i++)
        account(cpu_time, i);
    cpu_time->stopped = true;
}

void cpu_time_totals(const struct cpu_time *cpu_time, struct recording_totals *totals)
{
    totals->cpu_samples = cpu_time->totals.cpu_samples;
    totals->cpu_sampled_ns = cpu_time->totals.cpu_sampled_ns;
    totals->cpu_accounted_ns = cpu_time->totals.cpu_accounted_ns;
}

/* A thread has several entries if its name changed. */
static bool same_thread(const struct profile *profile, thread_id a, thread_id b)
{
    const struct thread_entry *one = profile_get_thread(profile, a);
    const struct thread_entry *other = profile_get_thread(profile, b);

    return one->target == other->target && one->tid == other->tid;
}

void cpu_time_threads(const struct cpu_time *cpu_time, const struct profile *profile,
                      struct thread_times *times)
{
    for (thread_id id = 1; id < cpu_time->sampled_count; id++) {
        for (size_t i = 0; cpu_time->sampled[id] && i < times->count; i++) {
            if (!same_thread(profile, id, times->list[i].thread))
                continue;
            times->list[i].sampled_ns += cpu_time->sampled[id];
            break;
        }
    }
}

void cpu_time_begin(struct cpu_time *cpu_time)
{
    if (cpu_time->sampled)
        memset(cpu_time->sampled, 0, cpu_time->sampled_count * sizeof(*cpu_time->sampled));
    cpu_time->totals = (struct recording_totals){0};
}
