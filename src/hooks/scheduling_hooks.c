// SPDX-License-Identifier: Apache-2.0
/* How to find the functions that schedule processes (hook_finders.c has the others). */
#include "hooks/hook_internal.h"
#include "vm_constants.h"

/* ---- the scheduler loop ----
 *
 * process_main (x86/process_main.cpp 25.2.3:52, 27.3.4.1:52, 29.1.1:54): c_p = 0; loop: ...
 * c_p = erts_schedule(0, c_p, reds); ... copy_in_registers(c_p, registers); ... */

/* A call with the process that the function at `detail` returned, and with the X registers, which
 * are on the C stack. */
static bool takes_new_process(const struct call_match *match)
{
    uint64_t giver;

    return flow_is_result(match->flow, argument(match, 0), &giver) && giver == match->detail &&
           argument_is_stack(match, 1);
}

static bool begins_without(const struct call_match *match)
{
    return argument_is_number(match, 0, 0) && argument_is_number(match, 1, 0);
}

static bool main_loop(const struct hooks *hooks, struct code_place *loop)
{
    return code_find_fragment(hooks->code, "global::process_main", loop);
}

void scheduling_hook_schedule(struct hooks *hooks, struct function_set *found)
{
    struct function_set givers = {.count = 0};
    struct code_place loop;

    if (!main_loop(hooks, &loop))
        return;
    hooks_search_place(hooks, &loop, begins_without, 0, &givers);
    for (size_t i = 0; i < givers.count; i++) {
        struct function_set takers = {.count = 0};

        hooks_search_place(hooks, &loop, takes_new_process, givers.functions[i], &takers);
        if (takers.count == 1)
            hooks_set_add(found, givers.functions[i]);
    }
}

void scheduling_hook_copy_in(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct code_place loop;

    if (schedule && main_loop(hooks, &loop))
        hooks_search_place(hooks, &loop, takes_new_process, schedule, found);
}

/* ---- waking ----
 *
 * Functions that queue a message or another signal do this (erl_message.c, erl_proc_sig_queue.h
 * 25.2.3:1862, 29.1.1:2063):
 *     state = p->state;
 *     if (...) erts_schedule_process(p, state, locks);
 *     if (...) erts_proc_sys_schedule(p, state, 0 or ERTS_PSFLG_ACTIVE);
 * Both called functions change p->state: by themselves, or in a function that the compiler made of
 *     change_proc_schedule_state(p, 0, ERTS_PSFLG_ACTIVE, &state, &priority, locks). */

/* A call with a process and its state. */
static bool passes_state(const struct call_match *match)
{
    struct flow_value process = argument(match, 0), state = argument(match, 1), address;

    return state.offset == 0 && flow_is_memory(match->flow, state, &address) &&
           address.base == process.base &&
           address.offset == process.offset + match->hooks->vm->layout.process_state;
}

/* The numbers of locks are below this flag. */
static bool passes_state_and_flag(const struct call_match *match)
{
    return passes_state(match) && argument_is_number(match, 2, ERTS_PSFLG_ACTIVE);
}

static bool passes_state_and_locks(const struct call_match *match)
{
    struct flow_value locks = argument(match, 2);

    return passes_state(match) && !flow_is_number(locks, locks.offset);
}

static bool changes_state(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(0),
                            match->hooks->vm->layout.process_state);
}

/* change_proc_schedule_state(p, 0, ERTS_PSFLG_ACTIVE, &state, &priority, locks) */
static bool lets_activate(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_number(match, 1, 0) &&
           argument_is_number(match, 2, ERTS_PSFLG_ACTIVE) && argument_is_stack(match, 3) &&
           argument_is_stack(match, 4) && argument_is_own(match, 5, 2);
}

/* active_sys_enqueue(p, NULL, 0, flag, state, &fail_state) */
static bool lets_enqueue_task(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_number(match, 1, 0) &&
           argument_is_number(match, 2, 0) && argument_is_own(match, 3, 2) &&
           argument_is_own(match, 4, 1) && argument_is_stack(match, 5);
}

/* True if the function changes the state of its process, directly or by a call that matches
 * `lets`. */
static bool activates(struct hooks *hooks, uint64_t function, call_pattern lets)
{
    struct function_set called = {.count = 0};

    if (hooks_stores(hooks, function, changes_state))
        return true;
    hooks_search_function(hooks, function, lets, 0, &called);
    return called.count == 1;
}

/* Find functions that are called with this pattern by erts_queue_proc_message() callees, or by the
 * callees of those. */
static void called_by_send(struct hooks *hooks, call_pattern pattern, struct function_set *found)
{
    uint64_t send = hook_address(hooks, HOOK_SEND);
    struct function_set called = {.count = 0};
    size_t direct;

    if (!send)
        return;
    hooks_search_function(hooks, send, NULL, 0, &called);
    direct = called.count;
    for (size_t i = 0; i < direct; i++)
        hooks_search_function(hooks, called.functions[i], NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        hooks_search_function(hooks, called.functions[i], pattern, 0, found);
}

void scheduling_hook_wake(struct hooks *hooks, struct function_set *found)
{
    struct function_set for_message = {.count = 0}, for_signal = {.count = 0};

    called_by_send(hooks, passes_state_and_locks, &for_message);
    called_by_send(hooks, passes_state_and_flag, &for_signal);
    for (size_t i = 0; i < for_message.count; i++)
        if (!hooks_set_has(&for_signal, for_message.functions[i]) &&
            activates(hooks, for_message.functions[i], lets_activate))
            hooks_set_add(found, for_message.functions[i]);
}

void scheduling_hook_wake_signal(struct hooks *hooks, struct function_set *found)
{
    struct function_set for_signal = {.count = 0};

    called_by_send(hooks, passes_state_and_flag, &for_signal);
    for (size_t i = 0; i < for_signal.count; i++)
        if (activates(hooks, for_signal.functions[i], lets_enqueue_task))
            hooks_set_add(found, for_signal.functions[i]);
}

/* erts_schedule_process() passes (how, priority, p, state) to select_enqueue_run_queue() and to
 * add2runq(). The compiler may inline either into the other. erts_schedule() also calls the first,
 * for the process that it takes off a scheduler. The second puts p at the end of a list. */

static bool passes_process_third(const struct call_match *match)
{
    return argument_is_own(match, 2, 0);
}

static bool ends_list(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(2),
                            match->hooks->vm->layout.process_next) &&
           flow_is_number(match->value, 0);
}

void scheduling_hook_enqueue(struct hooks *hooks, struct function_set *found)
{
    uint64_t wake = hook_address(hooks, HOOK_WAKE);
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct function_set candidates = {.count = 0}, by_schedule = {.count = 0};

    if (!wake || !schedule)
        return;
    hooks_search_function(hooks, wake, passes_process_third, 0, &candidates);
    hooks_search_function(hooks, schedule, NULL, 0, &by_schedule);
    for (size_t i = 0; i < candidates.count; i++)
        if (hooks_set_has(&by_schedule, candidates.functions[i]) ||
            hooks_stores(hooks, candidates.functions[i], ends_list))
            hooks_set_add(found, candidates.functions[i]);
}

/* ---- dirty schedulers ----
 *
 * erts_dirty_process_main(esdp) (beam_common.c 25.2.3:56, 29.1.1:61) is the only C function that
 * calls erts_schedule(). It calls both erts_call_dirty_nif() and erts_call_dirty_bif() with (esdp,
 * c_p, c_p->i, esdp->registers->x_reg_array). */

static bool runs_dirty(const struct call_match *match)
{
    const struct layout *layout = &match->hooks->vm->layout;
    struct flow_value process = argument(match, 1), pc = argument(match, 2);
    struct flow_value x_registers = argument(match, 3), address, scheduler;
    uint64_t giver;

    return argument_is_own(match, 0, 0) && flow_is_result(match->flow, process, &giver) &&
           giver == match->detail && pc.offset == 0 && flow_is_memory(match->flow, pc, &address) &&
           address.base == process.base && address.offset == layout->process_i &&
           x_registers.offset == layout->x_reg_array &&
           flow_is_memory(match->flow, x_registers, &scheduler) &&
           flow_is_register(scheduler, own_argument(0), layout->sched_registers);
}

/* While a NIF runs, its scheduler's data point to its environment: esdp->current_nif = &env. */
static bool sets_current_nif(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(0),
                            match->hooks->vm->layout.sched_current_nif) &&
           flow_is_stack(match->value);
}

static void find_dirty(struct hooks *hooks, bool nif, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct function_set loops = {.count = 0}, called = {.count = 0};

    if (!schedule)
        return;
    hooks_search_callers(hooks, schedule, &loops);
    for (size_t i = 0; i < loops.count; i++)
        hooks_search_function(hooks, loops.functions[i], runs_dirty, schedule, &called);
    if (called.count != 2)
        return;
    for (size_t i = 0; i < called.count; i++)
        if (hooks_stores(hooks, called.functions[i], sets_current_nif) == nif)
            hooks_set_add(found, called.functions[i]);
}

void scheduling_hook_dirty_nif(struct hooks *hooks, struct function_set *found)
{
    find_dirty(hooks, true, found);
}

void scheduling_hook_dirty_bif(struct hooks *hooks, struct function_set *found)
{
    find_dirty(hooks, false, found);
}

/* Find the functions in which a scheduler spends its time while it runs no Erlang code. */

/* ---- calls of erts_schedule(esdp, p, reds) ---- */

/* handle_aux_work(&esdp->aux_work_data, aux_work, 0) (erl_process.c 25.2.3:9693, 27.3.4.1:9764) */
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

void scheduling_hook_aux_work(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct function_set called = {.count = 0};

    if (schedule)
        hooks_search_function(hooks, schedule, handles_aux_work, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (hooks_stores(hooks, called.functions[i], forgets_progress))
            hooks_set_add(found, called.functions[i]);
}

/* erts_check_io(esdp->ssi->psi, ERTS_POLL_NO_TIMEOUT, 0)
 * (erl_process.c 25.2.3:9783, 27.3.4.1:9854). No other call passes the lowest possible time. */
static bool checks_io(const struct call_match *match)
{
    return argument_is_number(match, 1, INT64_MIN) && argument_is_number(match, 2, 0);
}

void scheduling_hook_check_io(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);

    if (schedule)
        hooks_search_function(hooks, schedule, checks_io, 0, found);
}

/* While a scheduler has nothing to run, it does other work and polls: scheduler_wait(&fcalls, esdp,
 * rq) (erl_process.c 25.2.3:9762, 27.3.4.1:9833, 29.1.1:9939). */
void scheduling_hook_scheduler_wait(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    uint64_t aux_work = hook_address(hooks, HOOK_AUX_WORK);
    uint64_t check_io = hook_address(hooks, HOOK_CHECK_IO);
    struct function_set called = {.count = 0}, working = {.count = 0}, polling = {.count = 0};

    if (!schedule || !aux_work || !check_io)
        return;
    hooks_search_function(hooks, schedule, NULL, 0, &called);
    hooks_search_callers(hooks, aux_work, &working);
    hooks_search_callers(hooks, check_io, &polling);
    for (size_t i = 0; i < called.count; i++)
        if (hooks_set_has(&working, called.functions[i]) &&
            hooks_set_has(&polling, called.functions[i]))
            hooks_set_add(found, called.functions[i]);
}

/* ---- calls of garbage collections ---- */

static bool is_same(struct flow_value a, struct flow_value b)
{
    return a.base == b.base && a.offset == b.offset;
}

/* full_sweep_heaps(p, live_hf_end, hibernate, n_heap, n_htop, oh, oh_size, objv, nobj): the heap is
 * new, so n_heap and n_htop are the same pointer (erl_gc.c 25.2.3:1848, 27.3.4.1:1924). The
 * compiler may drop a parameter for which all callers pass the same value, here `hibernate`. */
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
    hooks_search_function(hooks, collect, sweeps_to_new_heap, 0, found);
    if (!found->count)
        hooks_search_function(hooks, collect, NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        hooks_search_function(hooks, called.functions[i], sweeps_to_new_heap, 0, found);
}

void scheduling_hook_full_sweep(struct hooks *hooks, struct function_set *found)
{
    struct function_set major = {.count = 0}, hibernate = {.count = 0};

    find_sweeps(hooks, HOOK_GC, &major);
    find_sweeps(hooks, HOOK_GC_HIBERNATE, &hibernate);
    for (size_t i = 0; i < major.count; i++)
        for (size_t k = 0; k < hibernate.count; k++)
            if (major.functions[i] == hibernate.functions[k])
                hooks_set_add(found, major.functions[i]);
}
