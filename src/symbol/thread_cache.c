// SPDX-License-Identifier: Apache-2.0
#include "symbol/threads_internal.h"

#include <stdlib.h>
#include <string.h>

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
