// SPDX-License-Identifier: Apache-2.0
#include "beam/hook_internal.h"
#include "os/function_start.h"
#include "os/native_code.h"

bool function_set_has(const struct function_set *set, uint64_t function)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->functions[i] == function)
            return true;
    return false;
}

void function_set_add(struct function_set *set, uint64_t function)
{
    if (set->count < HOOK_FUNCTIONS_MAX && !function_set_has(set, function))
        set->functions[set->count++] = function;
}

/* ---- reading code ---- */

static bool read_native(void *context, uint64_t address, void *buffer, size_t size)
{
    const struct hooks *hooks = context;

    return native_code_read(hooks->executable, address, buffer, size);
}

static bool read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
    const struct hooks *hooks = context;

    return memory_read(hooks->vm->memory, address, buffer, size);
}

static bool native_code(const struct hooks *hooks, uint64_t function, struct flow_code *code)
{
    *code = (struct flow_code){.read = read_native, .context = (void *)hooks};
    return native_function_find(hooks->executable, function, &code->start, &code->end) &&
           code->start == function;
}

static struct flow_code jit_code(const struct hooks *hooks, const struct code_place *place)
{
    return (struct flow_code){.read = read_memory,
                              .context = (void *)hooks,
                              .start = place->start,
                              .end = place->end,
                              .follow_literals = true};
}

/* True if a function of the executable starts here. A stub that jumps to a library is no
 * function. */
static bool is_function(const struct hooks *hooks, uint64_t address)
{
    uint64_t start, end;

    return native_function_find(hooks->executable, address, &start, &end) && start == address;
}

/* ---- calls ---- */

struct call_search {
    const struct hooks *hooks;
    call_pattern pattern;
    uint64_t detail;
    struct function_set *found;
};

static void look_at_call(void *context, const struct flow *flow, const struct flow_call *call)
{
    const struct call_search *search = context;
    const struct call_match match = {search->hooks, flow, call, search->detail};

    if (call->target && is_function(search->hooks, call->target) &&
        (!search->pattern || search->pattern(&match)))
        function_set_add(search->found, call->target);
}

static void search_code(const struct flow_code *code, struct call_search *search)
{
    flow_follow(code, &(struct flow_visitor){.call = look_at_call, .context = search});
}

void hook_search_function(const struct hooks *hooks, uint64_t function, call_pattern pattern,
                          uint64_t detail, struct function_set *found)
{
    struct call_search search = {hooks, pattern, detail, found};
    struct flow_code code;

    if (native_code(hooks, function, &code))
        search_code(&code, &search);
}

void hook_search_place(const struct hooks *hooks, const struct code_place *place,
                       call_pattern pattern, uint64_t detail, struct function_set *found)
{
    struct call_search search = {hooks, pattern, detail, found};
    struct flow_code code = jit_code(hooks, place);

    search_code(&code, &search);
}

/* ---- stores ---- */

struct store_search {
    const struct hooks *hooks;
    store_pattern pattern;
    bool found;
};

static void look_at_store(void *context, const struct flow *flow, struct flow_value address,
                          struct flow_value value)
{
    struct store_search *search = context;
    const struct store_match match = {search->hooks, flow, address, value};

    search->found |= search->pattern(&match);
}

bool hook_stores(const struct hooks *hooks, uint64_t function, store_pattern pattern)
{
    struct store_search search = {hooks, pattern, false};
    struct flow_code code;

    if (native_code(hooks, function, &code))
        flow_follow(&code, &(struct flow_visitor){.store = look_at_store, .context = &search});
    return search.found;
}

/* ---- callers ---- */

static bool any_call_of(const struct call_match *match)
{
    return match->call->target == match->detail;
}

struct caller_search {
    const struct hooks *hooks;
    uint64_t function;
    struct function_set *found;
};

/* `address` holds the bytes of a call. Add the function around it if following that function's code
 * reaches a call of the searched function. */
static bool look_at_caller(void *context, uint64_t address)
{
    const struct caller_search *search = context;
    struct function_set called = {.count = 0};
    uint64_t start, end;

    if (!native_function_find(search->hooks->executable, address, &start, &end))
        return true;
    hook_search_function(search->hooks, start, any_call_of, search->function, &called);
    if (called.count)
        function_set_add(search->found, start);
    return true;
}

void hook_search_callers(const struct hooks *hooks, uint64_t function, struct function_set *found)
{
    struct caller_search search = {hooks, function, found};

    native_code_callers(hooks->executable, function, look_at_caller, &search);
}

uint64_t hook_next_function(const struct hooks *hooks, uint64_t function)
{
    uint64_t start, end;

    return native_function_find(hooks->executable, function, &start, &end) ? end : 0;
}
