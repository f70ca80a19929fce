// SPDX-License-Identifier: Apache-2.0
#include "profile/microstates.h"

#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/intern.h"
#include "util/number.h"

static const char *const names[] = {
    [MICROSTATE_NONE] = "unknown",
    [MICROSTATE_EMULATOR] = "emulator",
    [MICROSTATE_BIF] = "bif",
    [MICROSTATE_NIF] = "nif",
    [MICROSTATE_GC_MINOR] = "gc_minor",
    [MICROSTATE_GC_MAJOR] = "gc_major",
    [MICROSTATE_GC] = "gc",
    [MICROSTATE_GC_HIBERNATE] = "gc_hibernate",
    [MICROSTATE_PORT] = "port",
    [MICROSTATE_CHECK_IO] = "check_io",
    [MICROSTATE_AUX] = "aux",
    [MICROSTATE_BUSY_WAIT] = "busy_wait",
    [MICROSTATE_OTHER] = "other",
    [MICROSTATE_SLEEP] = "sleep",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == MICROSTATE_COUNT, "one name each");

bool microstate_is_gc(enum microstate state)
{
    return state >= MICROSTATE_GC_MINOR && state <= MICROSTATE_GC_HIBERNATE;
}

const char *microstate_name(enum microstate state)
{
    return state < MICROSTATE_COUNT ? names[state] : "unknown";
}

struct thread_key {
    target_id target;
    uint32_t tid;
};

struct thread_sums {
    thread_id thread; /* an entry of the thread, one with its scheduler if there is one */
    uint64_t samples;
    uint64_t ns[MICROSTATE_COUNT];
    const struct thread_time *time; /* the kernel's counts; NULL: not known */
};

struct microstates {
    const struct profile *profile;
    bool sampled;
    struct intern keys;       /* struct thread_key */
    struct thread_sums *sums; /* by id in keys - 1 */
    size_t room;
};

struct microstates *microstates_new(const struct profile *profile)
{
    struct microstates *states = xcalloc(1, sizeof(*states));

    states->profile = profile;
    intern_init(&states->keys, sizeof(struct thread_key), sizeof(struct thread_key));
    return states;
}

void microstates_free(struct microstates *states)
{
    if (!states)
        return;
    intern_free(&states->keys);
    free(states->sums);
    free(states);
}

/* A thread has several entries if its name changed. */
static struct thread_sums *sums_of(struct microstates *states, thread_id id)
{
    const struct thread_entry *entry = profile_get_thread(states->profile, id);
    struct thread_key key = {entry->target, entry->tid};
    uint32_t known = states->keys.count, number = intern_add(&states->keys, &key);
    struct thread_sums *sums;

    if (number > known) {
        states->sums = xgrow(states->sums, &states->room, number - 1, sizeof(*states->sums));
        states->sums[number - 1].thread = id;
    }
    sums = &states->sums[number - 1];
    if (entry->scheduler_kind != SCHEDULER_NONE)
        sums->thread = id;
    return sums;
}

void microstates_add(struct microstates *states, const struct sample *sample)
{
    struct thread_sums *sums;

    if (!sample->thread || !event_is_cpu(states->profile, sample->event))
        return;
    states->sampled = true;
    sums = sums_of(states, sample->thread);
    sums->samples++;
    sums->ns[sample->microstate] =
        saturating_sum(sums->ns[sample->microstate], sample->values[CPU_TIME]);
}

/* ---- rows ---- */

static void describe(const struct profile *profile, thread_id id, struct microstate_row *row)
{
    const struct thread_entry *entry = profile_get_thread(profile, id);

    row->target = entry->target;
    row->tid = entry->tid;
    row->type = thread_type_of(profile_text(profile, entry->name), &row->number);
    if (entry->scheduler_kind != SCHEDULER_NONE) {
        row->type = THREAD_SCHEDULER + (entry->scheduler_kind - SCHEDULER_NORMAL);
        row->number = entry->scheduler_number;
    }
}

/* Set the times from the samples. They were scaled to the CPU time of all threads together, but a
 * row has the CPU time of its own thread. So restore the samples' time by their clock. What is
 * missing then counts as unknown. */
static void set_sampled(const struct thread_sums *sums, struct microstate_row *row)
{
    uint64_t weight = 0;

    for (int i = 0; i < MICROSTATE_COUNT; i++)
        weight = saturating_sum(weight, sums->ns[i]);
    memcpy(row->ns, sums->ns, sizeof(row->ns));
    if (!row->counted || !row->sampled_ns || !weight) {
        row->sampled_ns = weight;
        return;
    }
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        row->ns[i] = whole_part((double)row->ns[i] * (double)row->sampled_ns / (double)weight);
}

/* Set the time in each state. Time on a CPU that samples do not show is unknown. Time off the CPU
 * that is not wait_ns is sleep. */
static void set_states(const struct thread_sums *sums, struct microstate_row *row)
{
    uint64_t on_cpu, off_cpu, shown = 0;

    row->samples = sums->samples;
    set_sampled(sums, row);
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        shown = saturating_sum(shown, row->ns[i]);
    on_cpu = row->counted && row->cpu_ns > shown ? row->cpu_ns : shown;
    row->ns[MICROSTATE_NONE] = saturating_sum(row->ns[MICROSTATE_NONE], on_cpu - shown);
    off_cpu = row->span_ns > on_cpu ? row->span_ns - on_cpu : 0;
    if (row->wait_ns > off_cpu)
        row->wait_ns = off_cpu;
    row->ns[MICROSTATE_SLEEP] = saturating_sum(row->ns[MICROSTATE_SLEEP], off_cpu - row->wait_ns);
}

static int compare_rows(const void *left, const void *right)
{
    const struct microstate_row *a = left, *b = right;

    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* `time` is NULL if the kernel's counts are not known. */
static void set_times(const struct thread_time *time, uint64_t span_ns, struct microstate_row *row)
{
    row->span_ns = span_ns;
    if (!time || time->to == time->from)
        return;
    row->counted = true;
    row->span_ns = time->to - time->from;
    row->cpu_ns = time->cpu_ns;
    row->wait_ns = time->wait_ns;
    row->sampled_ns = time->sampled_ns;
}

struct microstate_row *microstates_rows(struct microstates *states,
                                        const struct thread_times *times, uint64_t start,
                                        uint64_t end, size_t *count)
{
    struct microstate_row *rows;

    for (size_t i = 0; states->sampled && i < times->count; i++) {
        struct thread_sums *sums = sums_of(states, times->list[i].thread);

        if (!sums->time)
            sums->time = &times->list[i];
    }
    rows = xcalloc(states->keys.count + 1, sizeof(*rows));
    *count = 0;
    for (uint32_t i = 0; i < states->keys.count; i++) {
        struct microstate_row *row = &rows[*count];

        *row = (struct microstate_row){0};
        describe(states->profile, states->sums[i].thread, row);
        if (row->type == THREAD_OTHER)
            continue;
        set_times(states->sums[i].time, end > start ? end - start : 0, row);
        set_states(&states->sums[i], row);
        ++*count;
    }
    qsort(rows, *count, sizeof(*rows), compare_rows);
    return rows;
}

uint64_t microstate_row_busy(const struct microstate_row *row)
{
    uint64_t busy = 0;

    for (int state = 0; state < MICROSTATE_COUNT; state++)
        if (state != MICROSTATE_SLEEP && state != MICROSTATE_BUSY_WAIT)
            busy = saturating_sum(busy, row->ns[state]);
    return busy;
}

void microstate_row_add(struct microstate_row *sum, const struct microstate_row *row)
{
    sum->counted |= row->counted;
    sum->span_ns = saturating_sum(sum->span_ns, row->span_ns);
    sum->sampled_ns = saturating_sum(sum->sampled_ns, row->sampled_ns);
    sum->cpu_ns = saturating_sum(sum->cpu_ns, row->cpu_ns);
    sum->wait_ns = saturating_sum(sum->wait_ns, row->wait_ns);
    sum->samples = saturating_sum(sum->samples, row->samples);
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        sum->ns[i] = saturating_sum(sum->ns[i], row->ns[i]);
}
