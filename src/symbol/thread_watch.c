// SPDX-License-Identifier: Apache-2.0
#include "symbol/threads_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "os/process.h"
#include "profile/profile_remap.h"
#include "profile/threads.h"
#include "util/alloc.h"
#include "util/clock.h"

struct watched_thread {
    pid_t tid;
    struct thread_time time;
    uint64_t first_cpu, first_wait; /* counters at the first look, ns */
};

struct thread_watch {
    pid_t pid;
    target_id target;
    struct profile *profile;
    uint64_t looked; /* start of the last look at all threads */
    struct watched_thread *list;
    size_t count, room;
    size_t *seen; /* threads of the last look, as indexes of `list`, in ascending order of tids */
    size_t seen_count;
};

static const size_t NONE = SIZE_MAX;

struct thread_watch *thread_watch_new(pid_t pid, target_id target, struct profile *profile)
{
    struct thread_watch *watch = xcalloc(1, sizeof(*watch));

    watch->pid = pid;
    watch->target = target;
    watch->profile = profile;
    return watch;
}

void thread_watch_free(struct thread_watch *watch)
{
    if (!watch)
        return;
    free(watch->list);
    free(watch->seen);
    free(watch);
}

/* Threads that have ended are not moved. */
void thread_watch_move(struct thread_watch *watch, struct profile *profile, target_id target)
{
    struct profile_remap remap = {.from = watch->profile, .to = profile};
    struct watched_thread *moved = xcalloc(watch->seen_count + 1, sizeof(*moved));
    size_t kept = 0;

    for (size_t i = 0; i < watch->seen_count; i++) {
        struct watched_thread thread = watch->list[watch->seen[i]];

        if (thread.time.to < watch->looked)
            continue;
        thread.first_cpu += thread.time.cpu_ns;
        thread.first_wait += thread.time.wait_ns;
        thread.time = (struct thread_time){
            .thread = profile_remap_thread(&remap, thread.time.thread),
            .from = thread.time.to,
            .to = thread.time.to,
        };
        watch->seen[kept] = kept;
        moved[kept++] = thread;
    }
    profile_remap_free(&remap);
    free(watch->list);
    watch->list = moved;
    watch->room = watch->seen_count + 1;
    watch->count = watch->seen_count = kept;
    watch->profile = profile;
    watch->target = target;
}

static thread_id thread_of(const struct thread_watch *watch, pid_t tid)
{
    struct thread_entry thread = {.target = watch->target, .tid = (uint32_t)tid};
    enum thread_type type;
    uint32_t number;
    char name[32];

    process_thread_name(watch->pid, tid, name, sizeof(name));
    type = thread_type_of(name, &number);
    thread.name = name[0] ? profile_string_z(watch->profile, name) : 0;
    if (type <= THREAD_DIRTY_IO) {
        thread.scheduler_kind = (uint16_t)(SCHEDULER_NORMAL + (type - THREAD_SCHEDULER));
        thread.scheduler_number = (uint16_t)number;
    }
    return profile_thread(watch->profile, &thread);
}

static void add(struct thread_watch *watch, const struct watched_thread *thread)
{
    watch->list = xgrow(watch->list, &watch->room, watch->count, sizeof(*watch->list));
    watch->list[watch->count++] = *thread;
}

/* The counters of a thread only grow. Smaller times belong to another thread with this tid. */
static bool has_grown(const struct watched_thread *known, uint64_t cpu_ns, uint64_t wait_ns)
{
    return cpu_ns >= known->first_cpu + known->time.cpu_ns &&
           wait_ns >= known->first_wait + known->time.wait_ns;
}

/* Return the index of the thread in the list, or NONE if the thread has ended. `known` is the index
 * of the thread that had this tid at the last look, or NONE. */
static size_t look_at(struct thread_watch *watch, pid_t tid, size_t known)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu_ns, wait_ns;
    struct thread_time *time;

    if (!process_thread_times(watch->pid, tid, &cpu_ns, &wait_ns))
        return known;
    if (known == NONE || !has_grown(&watch->list[known], cpu_ns, wait_ns)) {
        add(watch, &(struct watched_thread){
                       .tid = tid,
                       .time = {.thread = thread_of(watch, tid), .from = now, .to = now},
                       .first_cpu = cpu_ns,
                       .first_wait = wait_ns});
        return watch->count - 1;
    }
    time = &watch->list[known].time;
    time->to = now;
    time->cpu_ns = cpu_ns - watch->list[known].first_cpu;
    time->wait_ns = wait_ns - watch->list[known].first_wait;
    return known;
}

/* Keep the readings of the last look until now. */
static void extend(struct thread_watch *watch)
{
    uint64_t before = watch->looked;

    watch->looked = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < watch->seen_count; i++) {
        struct thread_time *time = &watch->list[watch->seen[i]].time;

        if (time->to >= before) /* it had not ended then */
            time->to = watch->looked;
    }
}

/* The list of the last look and the kernel's list are both in ascending order of tids. A tid that
 * is absent at a look and then comes back belongs to another thread. */
void thread_watch_look(struct thread_watch *watch, bool has_rested)
{
    struct error ignored; /* the VM ended */
    size_t count = 0, seen_count = 0, before = 0;
    pid_t *tids;
    size_t *seen;

    if (has_rested && watch->looked) {
        extend(watch);
        return;
    }
    tids = process_threads(watch->pid, &count, &ignored);
    watch->looked = clock_ns(CLOCK_MONOTONIC);
    if (!tids)
        return;
    seen = xcalloc(count + 1, sizeof(*seen));
    for (size_t i = 0; i < count; i++) {
        size_t known = NONE;

        while (before < watch->seen_count && watch->list[watch->seen[before]].tid < tids[i])
            before++;
        if (before < watch->seen_count && watch->list[watch->seen[before]].tid == tids[i])
            known = watch->seen[before];
        known = look_at(watch, tids[i], known);
        if (known != NONE)
            seen[seen_count++] = known;
    }
    free(tids);
    free(watch->seen);
    watch->seen = seen;
    watch->seen_count = seen_count;
}

void thread_watch_get(const struct thread_watch *watch, struct thread_times *times)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->list[i].time.to > watch->list[i].time.from)
            thread_times_add(times, &watch->list[i].time);
}
