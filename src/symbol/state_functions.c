// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <stdlib.h>

#include "beam/ptab.h"
#include "hooks/hooks.h"
#include "native/mappings.h"
#include "native/native_code.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    FUNCTIONS_MAX = 1 << 12,
    LOOKS_FOR_DRIVERS = 2, /* at the ports, after one was opened */
};

struct state_functions {
    struct vm *vm;
    struct code *code;
    struct runtime_names *names;
    struct address_map *by_start;
    bool known[STATE_FUNCTIONS];
    uint32_t version;
    uint32_t newest_port;         /* at the last look for drivers */
    unsigned port_looks;          /* since a port was new */
    struct reachability *collect; /* from garbage_collect() to FUNCTION_FULL_SWEEP; NULL: unknown */
};

struct state_functions *state_functions_new(struct vm *vm, struct code *code,
                                            struct runtime_names *names)
{
    struct state_functions *functions = xcalloc(1, sizeof(*functions));

    functions->vm = vm;
    functions->code = code;
    functions->names = names;
    functions->by_start = address_map_new(FUNCTIONS_MAX);
    return functions;
}

void state_functions_free(struct state_functions *functions)
{
    if (!functions)
        return;
    address_map_free(functions->by_start);
    reachability_free(functions->collect);
    free(functions);
}

void state_functions_add(struct state_functions *functions, enum state_function function,
                         uint64_t start)
{
    if (state_functions_get(functions, start) != FUNCTION_OTHER)
        return;
    address_map_put(functions->by_start, start, function);
    functions->known[function] = true;
    functions->version++;
}

enum state_function state_functions_get(const struct state_functions *functions, uint64_t start)
{
    uint64_t function;

    return address_map_get(functions->by_start, start, &function) ? (enum state_function)function
                                                                  : FUNCTION_OTHER;
}

bool state_functions_know(const struct state_functions *functions, enum state_function function)
{
    return functions->known[function];
}

uint32_t state_functions_version(const struct state_functions *functions)
{
    return functions->version;
}

static bool add_driver_function(void *context, uint64_t function)
{
    struct state_functions *functions = context;

    if (state_functions_get(functions, function) != FUNCTION_OTHER)
        return false;
    state_functions_add(functions, FUNCTION_DRIVER, function);
    return true;
}

/* True if ports have been opened since the last two looks. A new port may be in the table a little
 * later than its position shows: the second look finds it. */
static bool may_have_new_ports(struct state_functions *functions)
{
    struct vm *vm = functions->vm;
    uint32_t newest;

    if (!ptab_read_newest(vm, vm->roots.port_table, &newest))
        return true;
    if (newest != functions->newest_port)
        functions->port_looks = 0;
    functions->newest_port = newest;
    return functions->port_looks < LOOKS_FOR_DRIVERS && ++functions->port_looks;
}

void state_functions_find_drivers(struct state_functions *functions)
{
    if (may_have_new_ports(functions))
        drivers_each_function(functions->vm, add_driver_function, functions);
}

/* ---- sweeps ---- */

struct sweep_search {
    struct state_functions *functions;
    struct elf_file *file;
    uint64_t collect;
};

/* Add the function around a call of full_sweep_heaps(). */
static void add_sweeping(void *context, uint64_t address)
{
    const struct sweep_search *search = context;
    uint64_t start, end;

    if (native_code_find_function(search->file, address, &start, &end) && start != search->collect)
        state_functions_add(search->functions, FUNCTION_FULL_SWEEP, start);
}

static bool is_full_sweep(void *context, uint64_t function)
{
    return state_functions_get(context, function) == FUNCTION_FULL_SWEEP;
}

void state_functions_find_sweeps(struct state_functions *functions, uint64_t collect,
                                 uint64_t full_sweep)
{
    struct mapping *mapping = mappings_find_code(functions->vm->mappings, collect);
    struct sweep_search search = {functions, NULL, collect};

    search.file = mapping ? mapping_file(functions->vm->mappings, mapping) : NULL;
    if (!search.file)
        return;
    native_code_callers(search.file, full_sweep, add_sweeping, &search);
    reachability_free(functions->collect);
    functions->collect = reachability_new(search.file, collect, is_full_sweep, functions);
    if (!functions->collect || reachability_calls_once(functions->collect))
        return;
    reachability_free(functions->collect);
    functions->collect = NULL;
}

enum call_ahead state_functions_sweep_ahead(const struct state_functions *functions,
                                            uint64_t address)
{
    return functions->collect ? reachability_call_ahead(functions->collect, address) : CALL_UNKNOWN;
}

/* ---- all functions ---- */

/* HOOK_ENQUEUE is one of two functions, so it gets no name. */
void state_functions_find(struct state_functions *functions, struct hooks *hooks)
{
    static const enum state_function function_of[HOOK_COUNT] = {
        [HOOK_SCHEDULE_OUT] = FUNCTION_SCHEDULE, [HOOK_AUX_WORK] = FUNCTION_AUX_WORK,
        [HOOK_CHECK_IO] = FUNCTION_CHECK_IO,     [HOOK_GC] = FUNCTION_COLLECT,
        [HOOK_FULL_SWEEP] = FUNCTION_FULL_SWEEP,
    };
    struct error ignored;
    uint64_t found[STATE_FUNCTIONS] = {0};
    struct hook_point point;

    for (enum hook hook = 0; hook < HOOK_COUNT; hook++) {
        if (hook == HOOK_ENQUEUE || hooks_find(hooks, hook, &point, &ignored) != 0)
            continue;
        runtime_names_learn(functions->names, point.address, hook_function(hook));
        if (function_of[hook] == FUNCTION_OTHER)
            continue;
        found[function_of[hook]] = point.address;
        state_functions_add(functions, function_of[hook], point.address);
    }
    if (found[FUNCTION_COLLECT] && found[FUNCTION_FULL_SWEEP])
        state_functions_find_sweeps(functions, found[FUNCTION_COLLECT], found[FUNCTION_FULL_SWEEP]);
    state_functions_find_drivers(functions);
}
