// SPDX-License-Identifier: Apache-2.0
#include "symbol/thread_watch.h"

#include <stdlib.h>

#include "os/process.h"
#include "profile/profile_remap.h"
#include "profile/threads.h"
#include "util/alloc.h"
#include "util/clock.h"

struct watched {
    pid_t tid;
    struct thread_time time;
    uint64_t first_cpu, first_wait; /* counters at the first look, ns */
};

struct thread_watch {
    pid_t pid;
    target_id target;
    struct profile *profile;
    uint64_t looked; /* start of the last look at all threads */
    struct watched *list;
    size_t count, room;
};

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
    free(watch);
}

/* Threads that have ended are not moved. */
void thread_watch_move(struct thread_watch *watch, struct profile *profile, target_id target)
{
    struct profile_remap remap = {.from = watch->profile, .to = profile};
    size_t kept = 0;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched thread = watch->list[i];

        if (thread.time.to < watch->looked)
            continue;
        thread.first_cpu += thread.time.cpu_ns;
        thread.first_wait += thread.time.wait_ns;
        thread.time = (struct thread_time){
            .thread = profile_remap_thread(&remap, thread.time.thread),
            .from = thread.time.to,
            .to = thread.time.to,
        };
        watch->list[kept++] = thread;
    }
    profile_remap_free(&remap);
    watch->count = kept;
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

static struct watched *find(const struct thread_watch *watch, pid_t tid)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->list[i].tid == tid)
            return &watch->list[i];
    return NULL;
}

static void add(struct thread_watch *watch, const struct watched *thread)
{
    watch->list = xgrow(watch->list, &watch->room, watch->count, sizeof(*watch->list));
    watch->list[watch->count++] = *thread;
}

static void look_at(struct thread_watch *watch, pid_t tid)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu, wait;
    struct watched *known = find(watch, tid);

    if (!process_thread_times(watch->pid, tid, &cpu, &wait))
        return;
    if (!known) {
        add(watch,
            &(struct watched){.tid = tid,
                              .time = {.thread = thread_of(watch, tid), .from = now, .to = now},
                              .first_cpu = cpu,
                              .first_wait = wait});
        return;
    }
    known->time.to = now;
    known->time.cpu_ns = cpu - known->first_cpu;
    known->time.wait_ns = wait - known->first_wait;
}

void thread_watch_look(struct thread_watch *watch)
{
    struct error ignored; /* the VM ended */
    size_t count;
    pid_t *tids = process_threads(watch->pid, &count, &ignored);

    watch->looked = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; tids && i < count; i++)
        look_at(watch, tids[i]);
    free(tids);
}

void thread_watch_get(const struct thread_watch *watch, struct thread_times *times)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->list[i].time.to > watch->list[i].time.from)
            thread_times_add(times, &watch->list[i].time);
}
