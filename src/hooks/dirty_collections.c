// SPDX-License-Identifier: Apache-2.0
/*
 * Where the VM counts the collections of dirty schedulers: in a variable of erl_gc.c,
 *
 *      static struct { erts_mtx_t mtx; ErtsGCInfo info; } dirty_gc;    (25.2.3:190, 29.1.1:198)
 *
 * At its end, garbage_collect() takes the mutex and adds to `info`. So `info` is what the code
 * stores to at a fixed address, right behind a mutex whose address it passes to a function.
 */
#include <pthread.h>

#include "hooks/hook_internal.h"
#include "util/log.h"

enum { ADDRESSES_MAX = 64 };

struct addresses {
    uint64_t of[ADDRESSES_MAX];
    unsigned int count;
};

struct collection_search {
    struct addresses passed; /* as the first argument of a call */
    struct addresses stored;
};

static void add(struct addresses *addresses, struct flow_value value)
{
    if (flow_is_number(value, value.offset) && value.offset && addresses->count < ADDRESSES_MAX)
        addresses->of[addresses->count++] = (uint64_t)value.offset;
}

static void look_at_call(void *context, const struct flow *flow, const struct flow_call *call)
{
    (void)flow;
    add(&((struct collection_search *)context)->passed, flow_argument(call, 0));
}

static void look_at_store(void *context, const struct flow *flow, struct flow_value address,
                          struct flow_value value)
{
    (void)flow;
    (void)value;
    add(&((struct collection_search *)context)->stored, address);
}

static bool has(const struct addresses *addresses, uint64_t address)
{
    for (unsigned int i = 0; i < addresses->count; i++)
        if (addresses->of[i] == address)
            return true;
    return false;
}

/* The only address behind a mutex; 0 if there is none, or several. */
static uint64_t behind_mutex(const struct collection_search *search)
{
    uint64_t found = 0;

    for (unsigned int i = 0; i < search->stored.count; i++) {
        uint64_t address = search->stored.of[i];

        if (address == found || !has(&search->passed, address - sizeof(pthread_mutex_t)))
            continue;
        if (found)
            return 0;
        found = address;
    }
    return found;
}

void dirty_collections_find_counters(struct hooks *hooks)
{
    struct collection_search search = {.passed = {.count = 0}};
    uint64_t collect = hook_address(hooks, HOOK_GC);
    struct flow_code code;

    if (!collect || !hook_code(hooks, collect, &code))
        return;
    flow_follow(&code, &(struct flow_visitor){
                           .call = look_at_call, .store = look_at_store, .context = &search});
    hooks->vm->dirty_gc_info = behind_mutex(&search);
    log_decision("hooks", "collections of dirty schedulers are counted at %#llx",
                 (unsigned long long)hooks->vm->dirty_gc_info);
}
