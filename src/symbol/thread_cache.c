// SPDX-License-Identifier: Apache-2.0
#include "symbol/thread_cache.h"

#include <stdlib.h>
#include <string.h>

#include "native/memory.h"
#include "util/alloc.h"

/* Threads whose ids are equal in their low bits share one place. */
enum { PLACES = 1 << 10, NAME_SIZE = sizeof(((struct wire_sample *)0)->thread_name) };

/* What the entry depends on: a thread can be renamed, and its id can be reused. */
struct cached_thread {
    thread_id id; /* 0: empty */
    uint32_t tid;
    uint64_t scheduler;
    char name[NAME_SIZE];
};

struct thread_cache {
    const struct vm *vm;
    struct profile *profile;
    target_id target;
    struct cached_thread places[PLACES];
};

struct thread_cache *thread_cache_new(const struct vm *vm, struct profile *profile,
                                      target_id target)
{
    struct thread_cache *cache = xcalloc(1, sizeof(*cache));

    cache->vm = vm;
    cache->profile = profile;
    cache->target = target;
    return cache;
}

void thread_cache_free(struct thread_cache *cache)
{
    free(cache);
}

void thread_cache_move(struct thread_cache *cache, struct profile *profile, target_id target)
{
    cache->profile = profile;
    cache->target = target;
    memset(cache->places, 0, sizeof(cache->places));
}

static void set_scheduler(const struct vm *vm, uint64_t data, struct thread_entry *thread)
{
    for (uint32_t i = 0; data && i < vm->scheduler_count; i++) {
        if (vm->schedulers[i].data != data)
            continue;
        thread->scheduler_kind = (uint16_t)(SCHEDULER_NORMAL + vm->schedulers[i].type);
        thread->scheduler_number = (uint16_t)vm->schedulers[i].number;
        return;
    }
}

static thread_id add_thread(struct thread_cache *cache, const struct wire_sample *wire)
{
    struct thread_entry thread = {.target = cache->target, .tid = wire->tid};

    if (wire->thread_name[0])
        thread.name = profile_string(cache->profile, wire->thread_name,
                                     strnlen(wire->thread_name, NAME_SIZE));
    set_scheduler(cache->vm, wire->scheduler, &thread);
    return profile_thread(cache->profile, &thread);
}

thread_id thread_cache_get(struct thread_cache *cache, const struct wire_sample *wire)
{
    struct cached_thread *cached = &cache->places[wire->tid % PLACES];

    if (cached->id && cached->tid == wire->tid && cached->scheduler == wire->scheduler &&
        memcmp(cached->name, wire->thread_name, NAME_SIZE) == 0)
        return cached->id;
    *cached = (struct cached_thread){
        .id = add_thread(cache, wire), .tid = wire->tid, .scheduler = wire->scheduler};
    memcpy(cached->name, wire->thread_name, NAME_SIZE);
    return cached->id;
}

static enum activity activity_of_scheduler(enum microstate state)
{
    switch (state) {
    case MICROSTATE_PORT:
        return ACTIVITY_PORT;
    case MICROSTATE_CHECK_IO:
        return ACTIVITY_CHECK_IO;
    case MICROSTATE_AUX:
        return ACTIVITY_AUX_WORK;
    case MICROSTATE_BUSY_WAIT:
        return ACTIVITY_BUSY_WAIT;
    case MICROSTATE_SLEEP:
        return ACTIVITY_SLEEP;
    default:
        return ACTIVITY_SCHEDULING;
    }
}

static enum activity activity_of_thread(const char *name)
{
    uint32_t number;

    switch (thread_type_of(name, &number)) {
    case THREAD_ASYNC:
        return ACTIVITY_ASYNC;
    case THREAD_AUX:
        return ACTIVITY_AUX_WORK;
    case THREAD_POLL:
        return ACTIVITY_POLL;
    default:
        return ACTIVITY_OTHER;
    }
}

enum activity activity_of(const struct snapshot *snapshot, enum microstate state)
{
    char name[sizeof(snapshot->sample->thread_name) + 1] = "";

    if (snapshot->sample->process)
        return ACTIVITY_PROCESS;
    if (snapshot->sample->scheduler)
        return activity_of_scheduler(state);
    memcpy(name, snapshot->sample->thread_name, sizeof(snapshot->sample->thread_name));
    return activity_of_thread(name);
}

void activity_port_name(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size)
{
    uint64_t port = snapshot_scheduler_word(snapshot, vm->layout.sched_current_port), text;

    name[0] = 0;
    if (port && vm->layout.port_name >= 0 &&
        memory_read_u64(vm->memory, port + (uint64_t)vm->layout.port_name, &text) && text &&
        !memory_read_string(vm->memory, text, name, size))
        name[0] = 0;
}
