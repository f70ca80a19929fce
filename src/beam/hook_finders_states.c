// SPDX-License-Identifier: Apache-2.0
/* Find the functions in which a scheduler spends its time while it runs no Erlang code. */
#include "beam/hook_internal.h"

/* ---- calls of erts_schedule(esdp, p, reds) ---- */

/* handle_aux_work(&esdp->aux_work_data, aux_work, 0)      (erl_process.c 25:9693, 27:9764) */
static bool handles_aux_work(const struct call_match *match)
{
    struct flow_value data = argument(match, 0);

    return data.offset == match->hooks->vm->layout.sched_aux_work_data &&
           !flow_is_number(data, data.offset) && !flow_is_stack(data) &&
           argument_is_number(match, 2, 0);
}

/* handle_aux_work() begins with awdp->current_thr_prgr = ERTS_THR_PRGR_INVALID
 * (haw_thr_prgr_current_reset()). */
static bool forgets_progress(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(0), match->address.offset) &&
           flow_is_number(match->value, -1);
}

void hook_find_aux_work(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct function_set called = {.count = 0};

    if (schedule)
        hook_search_function(hooks, schedule, handles_aux_work, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (hook_stores(hooks, called.functions[i], forgets_progress))
            function_set_add(found, called.functions[i]);
}

/* erts_check_io(esdp->ssi->psi, ERTS_POLL_NO_TIMEOUT, 0)      (erl_process.c 25:9783, 27:9854). No
 * other call passes the lowest possible time. */
static bool checks_io(const struct call_match *match)
{
    return argument_is_number(match, 1, INT64_MIN) && argument_is_number(match, 2, 0);
}

void hook_find_check_io(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);

    if (schedule)
        hook_search_function(hooks, schedule, checks_io, 0, found);
}

/* ---- calls of garbage collections ---- */

static bool is_same(struct flow_value a, struct flow_value b)
{
    return a.base == b.base && a.offset == b.offset;
}

/* full_sweep_heaps(p, live_hf_end, hibernate, n_heap, n_htop, oh, oh_size, objv, nobj): the heap is
 * new, so n_heap and n_htop are the same pointer (erl_gc.c 25:1848, 27:1924). The compiler may drop
 * a parameter for which all callers pass the same value, here `hibernate`. */
static bool sweeps_to_new_heap(const struct call_match *match)
{
    for (unsigned int i = 2; i <= 3; i++)
        if (is_same(argument(match, i), argument(match, i + 1)) &&
            flow_is_result(match->flow, argument(match, i), NULL))
            return argument_is_own(match, 0, 0);
    return false;
}

/* Two functions call full_sweep_heaps(): major_collection(), which garbage_collect() calls or
 * inlines, and garbage_collect_hibernate(), which erts_garbage_collect_hibernate() calls. */
static void find_sweeps(struct hooks *hooks, enum hook collection, struct function_set *found)
{
    uint64_t collect = hook_address(hooks, collection);
    struct function_set called = {.count = 0};

    if (!collect)
        return;
    hook_search_function(hooks, collect, sweeps_to_new_heap, 0, found);
    if (!found->count)
        hook_search_function(hooks, collect, NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        hook_search_function(hooks, called.functions[i], sweeps_to_new_heap, 0, found);
}

void hook_find_full_sweep(struct hooks *hooks, struct function_set *found)
{
    struct function_set major = {.count = 0}, hibernate = {.count = 0};

    find_sweeps(hooks, HOOK_GC, &major);
    find_sweeps(hooks, HOOK_GC_HIBERNATE, &hibernate);
    for (size_t i = 0; i < major.count; i++)
        for (size_t k = 0; k < hibernate.count; k++)
            if (major.functions[i] == hibernate.functions[k])
                function_set_add(found, major.functions[i]);
}
