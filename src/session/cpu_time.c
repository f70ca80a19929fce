// SPDX-License-Identifier: Apache-2.0
#include "session/cpu_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/hash.h"

enum {
    WINDOW_NS = 200000000,
    STEP_NS = 10000,
    HOLD_NS = 300000000, /* below the 0.5 s by which the recording sorts samples */
    HELD_MAX = 1 << 13,  /* samples with which a window ends early */
};

/* VARY: the factor by which the scale of a window may differ from the usual scale. The usual scale
 * is the scale seen so far, averaged with FIRST_NS (ns) at a scale of 1. */
static const double VARY = 1.4, FIRST_NS = 2e8;

/* The time that samples may get before the kernel has accounted it, in ns. It is small, because
 * there may be no later window that corrects it. */
static const double ADVANCE_NS = 5e5;

struct vm_cpu_time {
    struct cpu_time *all;
    pid_t pid;
    double ticks; /* that a sample stands for, on the average */
    struct sample *held;
    size_t count, room;
    uint64_t began;     /* ns, start of the window */
    uint64_t accounted; /* by the kernel so far */
    double due; /* accounted, not yet in samples; < 0: samples have more than was accounted */
    double accounted_since, sampled; /* since the start; bases of all samples */
    double counted;                  /* by the clock for all samples, in its unit */
    bool ended;                      /* the VM has no account then: samples keep their bases */
    bool stopped;
    bool unscaled; /* samples keep their bases, which count as accounted */
};

struct cpu_time {
    uint64_t period;           /* of the clock, in its own unit */
    double first_ns_per_count; /* on a busy CPU, as measured at the start */
    bool is_timer;
    uint64_t *sampled; /* by thread id: sum of bases */
    size_t sampled_count;
    struct recording_totals totals; /* of the segment */
};

/* Add the CPU time of the kernel's account since the last call to the time that is due. */
static void account(struct vm_cpu_time *own)
{
    uint64_t now;

    if (own->stopped)
        return;
    own->ended = !process_cpu_time(own->pid, &now);
    if (own->ended || now < own->accounted)
        return;
    own->due += (double)(now - own->accounted);
    own->accounted_since += (double)(now - own->accounted);
    own->all->totals.cpu_accounted_ns += now - own->accounted;
    own->accounted = now;
}

struct cpu_time *cpu_time_new(const struct clock_event *clock, uint64_t period, uint32_t frequency)
{
    struct cpu_time *cpu_time = xcalloc(1, sizeof(*cpu_time));

    cpu_time->period = period;
    cpu_time->is_timer = event_clock_is_timer(clock->name);
    cpu_time->first_ns_per_count = 1e9 / frequency / (double)period;
    return cpu_time;
}

void cpu_time_free(struct cpu_time *cpu_time)
{
    if (!cpu_time)
        return;
    free(cpu_time->sampled);
    free(cpu_time);
}

struct vm_cpu_time *vm_cpu_time_new(struct cpu_time *cpu_time, pid_t pid, double sampled)
{
    struct vm_cpu_time *own = xcalloc(1, sizeof(*own));

    own->all = cpu_time;
    own->pid = pid;
    own->ticks = 1 / sampled;
    own->began = clock_ns(CLOCK_MONOTONIC);
    own->ended = !process_cpu_time(pid, &own->accounted);
    return own;
}

void vm_cpu_time_free(struct vm_cpu_time *own)
{
    if (!own)
        return;
    free(own->held);
    free(own);
}

/* The ns that one count of the clock stands for: 1 for a timer. For other clocks, first the value
 * measured at the start, then more and more the value seen for this VM. */
static double ns_per_count(const struct vm_cpu_time *own)
{
    const struct cpu_time *cpu_time = own->all;

    if (cpu_time->is_timer)
        return 1;
    return cpu_time->first_ns_per_count * (own->accounted_since + FIRST_NS) /
           (own->counted * cpu_time->first_ns_per_count + FIRST_NS);
}

uint64_t vm_cpu_time_base(struct vm_cpu_time *own, const struct snapshot *snapshot)
{
    const uint8_t *bytes = snapshot_region(snapshot, REGION_TICK, sizeof(uint64_t));
    uint64_t tick = own->all->period, ns;
    double count;

    if (bytes)
        memcpy(&tick, bytes, sizeof(tick));
    count = (double)tick * own->ticks;
    ns = (uint64_t)(count * ns_per_count(own));
    own->counted += count;
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

void vm_cpu_time_hold(struct vm_cpu_time *own, const struct sample *sample)
{
    struct cpu_time *cpu_time = own->all;

    count_sampled(cpu_time, sample);
    cpu_time->totals.cpu_samples++;
    cpu_time->totals.cpu_sampled_ns += sample->values[CPU_TIME];
    own->held = xgrow(own->held, &own->room, own->count, sizeof(*own->held));
    own->held[own->count++] = *sample;
    own->sampled += (double)sample->values[CPU_TIME];
}

static uint64_t sum_of(const struct sample *samples, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += samples[i].values[CPU_TIME];
    return sum;
}

/* The time for the first `count` held samples: their part of what is due, by their bases, but
 * within a factor of VARY around the usual scale. So chance in a window with few samples is evened
 * out over the next windows, and most samples have almost the same weight. */
static uint64_t share(const struct vm_cpu_time *own, size_t count)
{
    double base = (double)sum_of(own->held, count);
    double usual = (own->accounted_since + FIRST_NS) / (own->sampled + FIRST_NS);
    double part = own->due * base / (double)sum_of(own->held, own->count);
    double least = fmin(usual * base / VARY, own->due + ADVANCE_NS);

    return (uint64_t)fmax(0, fmin(fmax(part, least), usual * base * VARY));
}

/* Scale the first `count` held samples to `sum`, in steps: so most samples have equal values and
 * need little space. The sum is exact. */
static void scale(struct vm_cpu_time *own, size_t count, uint64_t sum)
{
    uint64_t whole = sum_of(own->held, count), done = 0, given = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t *value = &own->held[i].values[CPU_TIME], until;

        done += *value;
        until = done == whole
                    ? sum
                    : (uint64_t)((double)sum * ((double)done / (double)whole)) / STEP_NS * STEP_NS;
        *value = until - given;
        given = until;
    }
    own->due -= (double)sum;
}

/* End the window of the first `count` held samples. If these are all, they get all that is due:
 * there may be no other sample before the end. */
static int settle(struct vm_cpu_time *own, size_t count, struct segment *segment,
                  struct error *error)
{
    int result = 0;

    if (own->unscaled)
        own->all->totals.cpu_accounted_ns += sum_of(own->held, count);
    else if (!own->ended)
        scale(own, count, count == own->count ? (uint64_t)fmax(0, own->due) : share(own, count));
    for (size_t i = 0; i < count && !result; i++)
        result = segment_append(segment, &own->held[i], error);
    memmove(own->held, own->held + count, (own->count - count) * sizeof(*own->held));
    own->count -= count;
    own->began = clock_ns(CLOCK_MONOTONIC);
    return result;
}

/* The number of samples of a window that ends now, or 0 if it continues. The newest sample waits
 * for the next window, unless a much newer one was appended. So one sample remains to get the time
 * that is accounted until the end. */
static size_t window_of(const struct vm_cpu_time *own, uint64_t now, const struct segment *segment)
{
    if (!own->count || (now - own->began < WINDOW_NS && own->count < HELD_MAX))
        return 0;
    return own->held[own->count - 1].time + HOLD_NS > segment->newest ? own->count - 1 : own->count;
}

int vm_cpu_time_settle(struct vm_cpu_time *own, bool all, struct segment *segment,
                       struct error *error)
{
    size_t count = all ? own->count : window_of(own, clock_ns(CLOCK_MONOTONIC), segment);

    if (!all && !count)
        return 0;
    account(own);
    return count ? settle(own, count, segment, error) : 0;
}

uint64_t vm_cpu_time_oldest(const struct vm_cpu_time *own)
{
    uint64_t oldest = UINT64_MAX;

    for (size_t i = 0; i < own->count; i++)
        if (own->held[i].time < oldest)
            oldest = own->held[i].time;
    return oldest;
}

void vm_cpu_time_stop(struct vm_cpu_time *own)
{
    account(own);
    own->stopped = true;
}

void vm_cpu_time_resume(struct vm_cpu_time *own)
{
    own->ended = !process_cpu_time(own->pid, &own->accounted);
    own->began = clock_ns(CLOCK_MONOTONIC);
    own->stopped = false;
}

void cpu_time_totals(const struct cpu_time *cpu_time, struct recording_totals *totals)
{
    totals->cpu_samples = cpu_time->totals.cpu_samples;
    totals->cpu_sampled_ns = cpu_time->totals.cpu_sampled_ns;
    totals->cpu_accounted_ns = cpu_time->totals.cpu_accounted_ns;
}

void vm_cpu_time_interrupt(struct vm_cpu_time *own)
{
    own->unscaled = own->stopped = true;
}

static uint64_t hash_of(const struct thread_entry *thread)
{
    return hash_word((uint64_t)thread->target << 32 | thread->tid);
}

/* Return the time of a thread, or NULL. Entries with another name are of the same thread: it
 * changed its name. `index` has positions in the list, plus 1. */
static struct thread_time *find_time(const struct id_index *index, const struct profile *profile,
                                     const struct thread_times *times,
                                     const struct thread_entry *thread)
{
    struct id_probe probe = id_index_probe(index, hash_of(thread));
    uint32_t position;

    while ((position = id_probe_next(&probe))) {
        struct thread_time *time = &times->list[position - 1];
        const struct thread_entry *other = profile_get_thread(profile, time->thread);

        if (other->target == thread->target && other->tid == thread->tid)
            return time;
    }
    return NULL;
}

/* Index the times by thread: the first one of each. */
static struct id_index index_of(const struct profile *profile, const struct thread_times *times)
{
    struct id_index index = {0};

    for (size_t i = 0; i < times->count; i++) {
        const struct thread_entry *thread = profile_get_thread(profile, times->list[i].thread);

        if (!find_time(&index, profile, times, thread))
            hash_index_add(&index, hash_of(thread), (uint32_t)i + 1);
    }
    return index;
}

void cpu_time_threads(const struct cpu_time *cpu_time, const struct profile *profile,
                      struct thread_times *times)
{
    struct id_index index = index_of(profile, times);

    for (thread_id id = 1; id < cpu_time->sampled_count; id++) {
        struct thread_time *time =
            cpu_time->sampled[id]
                ? find_time(&index, profile, times, profile_get_thread(profile, id))
                : NULL;

        if (time)
            time->sampled_ns += cpu_time->sampled[id];
    }
    hash_index_free(&index);
}

void cpu_time_begin(struct cpu_time *cpu_time)
{
    if (cpu_time->sampled)
        memset(cpu_time->sampled, 0, cpu_time->sampled_count * sizeof(*cpu_time->sampled));
    cpu_time->totals = (struct recording_totals){0};
}
