// SPDX-License-Identifier: Apache-2.0
/*
 * How the functions behind hooks are told in a binary that does not export them (OTP 29, and
 * static functions in all): by what they are called with and do, which the C sources and the
 * layout of the VM's structs say whatever the compiler makes of them.
 */
#include <string.h>

#include "beam/fragment_calls.h"
#include "beam/hook_parts.h"
#include "beam/term.h"
#include "os/native_symbols.h"

/* Registers of the JIT's code (x86/beam_asm.hpp 25:72, 27:75, 29:105). */
static const enum flow_register JIT_PROCESS = FLOW_R13;
static const enum flow_register JIT_HEAP_TOP = FLOW_R15;
static const enum flow_register JIT_CODE_INDEX = FLOW_R12;

enum {
    STATE_ACTIVE = 0x2000, /* ERTS_PSFLG_ACTIVE (erl_process.h 25:1168) */
    NO_LIVE_FRAGMENT = -8, /* ERTS_INVALID_HFRAG_PTR (erl_message.h) */
};

static bool argument_is(const struct flow_call *call, unsigned int index, enum flow_register reg)
{
    return flow_is_register(flow_argument(call, index), reg, 0);
}

static uint64_t exported(const struct hooks *hooks, const char *name)
{
    return native_symbol_address(hooks->executable, name);
}

/* ---- functions that fragments of the JIT call ---- */

struct named_call {
    const char *name;
    uint64_t address;
};

static void match_name(void *context, uint64_t address, const char *name)
{
    struct named_call *wanted = context;

    if (!strcmp(name, wanted->name))
        wanted->address = address;
}

static uint64_t called_by_fragment(const struct hooks *hooks, const char *name)
{
    struct named_call wanted = {name, exported(hooks, name)};

    if (!wanted.address)
        fragment_calls_each(hooks->vm, hooks->code, match_name, &wanted);
    return wanted.address;
}

/* ---- the scheduler loop ----
 *
 * process_main (x86/process_main.cpp 25:52, 27:52, 29:54): c_p = 0; loop: ...
 * c_p = erts_schedule(0, c_p, reds); ... copy_in_registers(c_p, registers); ... */

/* The call with the process that `schedule` gave and with the X registers, on the C stack. */
static bool takes_new_process(const struct hooks *hooks, const struct flow *flow,
                              const struct flow_call *call, uint64_t schedule)
{
    uint64_t giver;

    (void)hooks;
    return flow_is_result(flow, flow_argument(call, 0), &giver) && giver == schedule &&
           flow_is_stack(flow_argument(call, 1));
}

static bool begins_without(const struct hooks *hooks, const struct flow *flow,
                           const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return flow_is_number(flow_argument(call, 0), 0) && flow_is_number(flow_argument(call, 1), 0);
}

static bool main_loop(const struct hooks *hooks, struct code_place *loop)
{
    return code_find_fragment(hooks->code, "global::process_main", loop);
}

static void find_schedule(struct hooks *hooks, struct function_set *found)
{
    struct function_set givers = {.count = 0};
    struct code_place loop;

    if (!main_loop(hooks, &loop))
        return;
    hook_search_place(hooks, &loop, begins_without, 0, &givers);
    for (size_t i = 0; i < givers.count; i++) {
        struct function_set takers = {.count = 0};

        hook_search_place(hooks, &loop, takes_new_process, givers.functions[i], &takers);
        if (takers.count == 1)
            function_set_add(found, givers.functions[i]);
    }
}

static void find_copy_in(struct hooks *hooks, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct code_place loop;

    if (schedule && main_loop(hooks, &loop))
        hook_search_place(hooks, &loop, takes_new_process, schedule, found);
}

/* ---- waking ----
 *
 * erts_schedule_process(p, state, locks) (erl_process.c 25:6899, 27:6922, 29:7020):
 *     priority = -1;
 *     enqueue = change_proc_schedule_state(p, 0, ERTS_PSFLG_ACTIVE, &state, &priority, locks);
 *     queue = select_enqueue_run_queue(enqueue, priority, p, state);      both inline or not,
 * the second within add2runq(enqueue, priority, p, state). */

static bool activates(const struct hooks *hooks, const struct flow *flow,
                      const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI) && flow_is_number(flow_argument(call, 1), 0) &&
           flow_is_number(flow_argument(call, 2), STATE_ACTIVE) &&
           flow_is_stack(flow_argument(call, 3)) && flow_is_stack(flow_argument(call, 4)) &&
           argument_is(call, 5, FLOW_RDX);
}

static bool enqueues(const struct hooks *hooks, const struct flow *flow,
                     const struct flow_call *call, uint64_t change)
{
    uint64_t giver;

    (void)hooks;
    return flow_is_result(flow, flow_argument(call, 0), &giver) && giver == change &&
           argument_is(call, 2, FLOW_RDI);
}

/* The two that a function calls as erts_schedule_process() does; false if it does not. */
static bool schedules_process(const struct hooks *hooks, uint64_t function, uint64_t *ret_enqueue)
{
    struct function_set change = {.count = 0}, enqueue = {.count = 0};

    hook_search_function(hooks, function, activates, 0, &change);
    if (change.count != 1)
        return false;
    hook_search_function(hooks, function, enqueues, change.functions[0], &enqueue);
    *ret_enqueue = enqueue.count == 1 ? enqueue.functions[0] : 0;
    return *ret_enqueue != 0;
}

/* Sending a message wakes the receiver: erts_queue_proc_message() calls queue_messages(), and that
 * erts_schedule_process(). */
static void find_wake(struct hooks *hooks, struct function_set *found)
{
    uint64_t send = hook_address(hooks, HOOK_SEND), enqueue;
    struct function_set called = {.count = 0};
    size_t direct;

    if (!send)
        return;
    hook_search_function(hooks, send, NULL, 0, &called);
    direct = called.count;
    for (size_t i = 0; i < direct; i++)
        hook_search_function(hooks, called.functions[i], NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (schedules_process(hooks, called.functions[i], &enqueue))
            function_set_add(found, called.functions[i]);
}

static bool passes_all_on(const struct hooks *hooks, const struct flow *flow,
                          const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI) && argument_is(call, 1, FLOW_RSI) &&
           argument_is(call, 2, FLOW_RDX) && argument_is(call, 3, FLOW_RCX);
}

/* erts_schedule() calls it too, for the process that it takes off (schedule_out_process()). */
static void find_enqueue(struct hooks *hooks, struct function_set *found)
{
    uint64_t wake = hook_address(hooks, HOOK_WAKE);
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT), enqueue;
    struct function_set candidates = {.count = 0}, by_schedule = {.count = 0};

    if (!wake || !schedule || !schedules_process(hooks, wake, &enqueue))
        return;
    function_set_add(&candidates, enqueue);
    hook_search_function(hooks, enqueue, passes_all_on, 0, &candidates);
    hook_search_function(hooks, schedule, NULL, 0, &by_schedule);
    for (size_t i = 0; i < candidates.count; i++)
        for (size_t k = 0; k < by_schedule.count; k++)
            if (candidates.functions[i] == by_schedule.functions[k])
                function_set_add(found, candidates.functions[i]);
}

/* ---- garbage collection ---- */

/* erts_garbage_collect_nobump(p, need, objv, nobj, fcalls) (erl_gc.c 25:891, 27:948, 29:957) is
 * garbage_collect(p, ERTS_INVALID_HFRAG_PTR, need, objv, nobj, fcalls, 0). */
static bool collects(const struct hooks *hooks, const struct flow *flow,
                     const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI) &&
           flow_is_number(flow_argument(call, 1), NO_LIVE_FRAGMENT) &&
           argument_is(call, 2, FLOW_RSI) && argument_is(call, 3, FLOW_RDX) &&
           argument_is(call, 4, FLOW_RCX) && argument_is(call, 5, FLOW_R8);
}

static void find_collect(struct hooks *hooks, struct function_set *found)
{
    uint64_t nobump = called_by_fragment(hooks, "erts_garbage_collect_nobump");

    if (nobump)
        hook_search_function(hooks, nobump, collects, 0, found);
}

static bool collects_hibernating(const struct hooks *hooks, const struct flow *flow,
                                 const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI) && flow_is_number(flow_argument(call, 1), 1);
}

static bool counts_reductions(const struct hooks *hooks, const struct flow *flow,
                              struct flow_value address, struct flow_value value)
{
    (void)flow;
    (void)value;
    return flow_is_register(address, FLOW_RDI, hooks->vm->layout.process_fcalls);
}

static bool takes_process(const struct hooks *hooks, const struct flow *flow,
                          const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI);
}

/* erlang:hibernate/3 calls erts_hibernate(p, ...), and that erts_garbage_collect_hibernate(p):
 *     reds = garbage_collect_hibernate(p, 1); BUMP_REDS(p, reds)     (erl_gc.c 27:1115, 29:1129) */
static void find_collect_hibernate(struct hooks *hooks, struct function_set *found)
{
    struct function_set hibernate = {.count = 0}, called = {.count = 0};
    const struct bif *bif = hook_find_bif(hooks, "erlang", "hibernate", 3, NULL);

    if (!bif)
        return;
    hook_search_function(hooks, bif->implementation, takes_process, 0, &hibernate);
    for (size_t i = 0; i < hibernate.count; i++)
        hook_search_function(hooks, hibernate.functions[i], takes_process, 0, &called);
    for (size_t i = 0; i < called.count; i++) {
        struct function_set inner = {.count = 0};

        hook_search_function(hooks, called.functions[i], collects_hibernating, 0, &inner);
        if (inner.count == 1 && hook_stores(hooks, called.functions[i], counts_reductions))
            function_set_add(found, called.functions[i]);
    }
}

/* ---- messages ---- */

/* erts_queue_proc_message(sender, receiver, locks, message, term) (erl_message.c 25:421, 27:480,
 * 29:532) begins with ERL_MESSAGE_TERM(message) = term and ERL_MESSAGE_FROM(message) =
 * sender->common.id, words 0 and 2 of m[]. */
static bool stores_term(const struct hooks *hooks, const struct flow *flow,
                        struct flow_value address, struct flow_value value)
{
    (void)flow;
    return flow_is_register(address, FLOW_RCX, hooks->vm->layout.message_m) &&
           flow_is_register(value, FLOW_R8, 0);
}

static bool stores_sender(const struct hooks *hooks, const struct flow *flow,
                          struct flow_value address, struct flow_value value)
{
    return flow_is_register(address, FLOW_RCX, hooks->vm->layout.message_m + 16) &&
           flow_is_field(flow, value, FLOW_RDI, hooks->vm->layout.process_id);
}

static void find_send(struct hooks *hooks, struct function_set *found)
{
    uint64_t enif_send = exported(hooks, "enif_send");
    struct function_set called = {.count = 0};

    if (enif_send)
        hook_search_function(hooks, enif_send, NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (hook_stores(hooks, called.functions[i], stores_term) &&
            hook_stores(hooks, called.functions[i], stores_sender))
            function_set_add(found, called.functions[i]);
}

static bool queues_from_sender(const struct hooks *hooks, const struct flow *flow,
                               const struct flow_call *call, uint64_t detail)
{
    (void)detail;
    return flow_is_field(flow, flow_argument(call, 0), FLOW_RDI, hooks->vm->layout.process_id) &&
           argument_is(call, 1, FLOW_RSI) && argument_is(call, 2, FLOW_RDX);
}

static bool queues_to_last(const struct hooks *hooks, const struct flow *flow,
                           const struct flow_call *call, uint64_t queue)
{
    return call->target == queue && queues_from_sender(hooks, flow, call, 0) &&
           argument_is(call, 4, FLOW_R8);
}

/* erts_queue_proc_messages(sender, receiver, locks, first, last, count) comes next in the source
 * and passes to the same function as its neighbour, but where the messages end. */
static void find_send_many(struct hooks *hooks, struct function_set *found)
{
    uint64_t send = hook_address(hooks, HOOK_SEND), next;
    struct function_set queue = {.count = 0}, same = {.count = 0};

    if (!send || !(next = hook_next_function(hooks, send)))
        return;
    hook_search_function(hooks, send, queues_from_sender, 0, &queue);
    if (queue.count != 1)
        return;
    hook_search_function(hooks, next, queues_to_last, queue.functions[0], &same);
    if (same.count == 1)
        function_set_add(found, next);
}

/* A value that is a register's, or that was reloaded from where the process keeps it. */
static bool is_kept(const struct flow *flow, struct flow_value value, int32_t field)
{
    return flow_is_field(flow, value, JIT_PROCESS, field);
}

/* Code of a receive calls beam_jit_remove_message(c_p, FCALLS, HTOP, E, active_code_ix), and no
 * other function with these (x86/instr_msg.cpp 25:290, 27:244, 29:250). */
static bool removes_message(const struct hooks *hooks, const struct flow *flow,
                            const struct flow_call *call, uint64_t detail)
{
    const struct layout *layout = &hooks->vm->layout;
    struct flow_value heap_top = flow_argument(call, 2), stack = flow_argument(call, 3);

    (void)detail;
    return argument_is(call, 0, JIT_PROCESS) && argument_is(call, 4, JIT_CODE_INDEX) &&
           (flow_is_register(heap_top, JIT_HEAP_TOP, heap_top.offset) ||
            is_kept(flow, heap_top, layout->process_htop)) &&
           (flow_is_stack(stack) || is_kept(flow, stack, layout->process_stop));
}

struct place_search {
    struct hooks *hooks;
    const char *symbol; /* NULL: all functions */
    call_pattern pattern;
    struct function_set *found;
};

static bool search_place(void *context, const struct code_place *place)
{
    const struct place_search *search = context;

    if (place->kind != CODE_HEADER && (!search->symbol || !strcmp(place->symbol, search->symbol)))
        hook_search_place(search->hooks, place, search->pattern, 0, search->found);
    return true;
}

static void find_receive(struct hooks *hooks, struct function_set *found)
{
    /* They are there when the VM starts, and each has a receive. */
    static const char *const MODULES[] = {"erts_code_purger", "erts_dirty_process_signal_handler",
                                          "erts_literal_area_collector", "init"};

    for (size_t i = 0; i < sizeof(MODULES) / sizeof(*MODULES); i++)
        code_each(hooks->code, MODULES[i], search_place,
                  &(struct place_search){hooks, NULL, removes_message, found});
}

/* enif_make_copy(env, term) (erl_nif.c 25:830, 29:848): copy_struct_x(term, size_object(term), &hp,
 * &env->proc->off_heap, NULL, NULL). */
static bool copies_term(const struct hooks *hooks, const struct flow *flow,
                        const struct flow_call *call, uint64_t detail)
{
    const struct layout *layout = &hooks->vm->layout;
    struct flow_value off_heap = flow_argument(call, 3), process;

    (void)detail;
    return argument_is(call, 0, FLOW_RSI) && flow_is_result(flow, flow_argument(call, 1), NULL) &&
           flow_is_stack(flow_argument(call, 2)) &&
           off_heap.offset == layout->process_off_heap_first &&
           flow_is_memory(flow, off_heap, &process) &&
           flow_is_register(process, FLOW_RDI, layout->nif_env_proc) &&
           flow_is_number(flow_argument(call, 4), 0) && flow_is_number(flow_argument(call, 5), 0);
}

static void find_copy(struct hooks *hooks, struct function_set *found)
{
    uint64_t enif_make_copy = exported(hooks, "enif_make_copy");

    if (enif_make_copy)
        hook_search_function(hooks, enif_make_copy, copies_term, 0, found);
}

/* ---- life and death ---- */

/* The word at `offset` from what the second argument points to. */
static bool is_bif_argument(const struct flow *flow, struct flow_value value, int64_t offset)
{
    return flow_is_field(flow, value, FLOW_RSI, offset);
}

/* spawn_3(p, args) (bif.c 25:71, 29:90): erl_create_process(p, args[0], args[1], args[2], &so). */
static bool creates_process(const struct hooks *hooks, const struct flow *flow,
                            const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)detail;
    return argument_is(call, 0, FLOW_RDI) && is_bif_argument(flow, flow_argument(call, 1), 0) &&
           is_bif_argument(flow, flow_argument(call, 2), 8) &&
           is_bif_argument(flow, flow_argument(call, 3), 16) &&
           flow_is_stack(flow_argument(call, 4));
}

static void find_create(struct hooks *hooks, struct function_set *found)
{
    const struct bif *bif = hook_find_bif(hooks, "erlang", "spawn", 3, NULL);

    if (bif)
        hook_search_function(hooks, bif->implementation, creates_process, 0, found);
}

/* The JIT's stubs at the bottom of each stack (x86/instr_common.cpp 25:232, 27:266, 29:268):
 * normal_exit is erts_do_exit_process(c_p, am_normal), continue_exit is
 * erts_continue_exit_process(c_p). */
static bool exits_normally(const struct hooks *hooks, const struct flow *flow,
                           const struct flow_call *call, uint64_t detail)
{
    struct flow_value reason = flow_argument(call, 1);
    const char *text = NULL;

    (void)flow;
    (void)detail;
    if (flow_is_number(reason, reason.offset))
        text = atom_text(hooks->atoms, (uint64_t)reason.offset);
    return argument_is(call, 0, JIT_PROCESS) && text && !strcmp(text, "normal");
}

static void find_exit(struct hooks *hooks, struct function_set *found)
{
    code_each(hooks->code, "erts_beamasm", search_place,
              &(struct place_search){hooks, "erts_beamasm:normal_exit/0", exits_normally, found});
}

static bool continues_exit(const struct hooks *hooks, const struct flow *flow,
                           const struct flow_call *call, uint64_t detail)
{
    (void)hooks;
    (void)flow;
    (void)detail;
    return argument_is(call, 0, JIT_PROCESS);
}

/* erts_do_exit_process() ends with a call of it. */
static void find_exit_continue(struct hooks *hooks, struct function_set *found)
{
    uint64_t do_exit = hook_address(hooks, HOOK_EXIT);
    struct function_set stub = {.count = 0}, last = {.count = 0};

    if (!do_exit)
        return;
    code_each(hooks->code, "erts_beamasm", search_place,
              &(struct place_search){hooks, "erts_beamasm:continue_exit/0", continues_exit, &stub});
    hook_search_function(hooks, do_exit, takes_process, 0, &last);
    for (size_t i = 0; i < stub.count; i++)
        for (size_t k = 0; k < last.count; k++)
            if (stub.functions[i] == last.functions[k])
                function_set_add(found, stub.functions[i]);
}

/* ---- dirty schedulers ----
 *
 * erts_dirty_process_main(esdp) (beam_common.c 25:150, 29:129), the only C function that calls
 * erts_schedule(), calls both with (esdp, c_p, c_p->i, esdp->registers->x_reg_array). */

static bool runs_dirty(const struct hooks *hooks, const struct flow *flow,
                       const struct flow_call *call, uint64_t schedule)
{
    const struct layout *layout = &hooks->vm->layout;
    struct flow_value process = flow_argument(call, 1), pc = flow_argument(call, 2);
    struct flow_value x_registers = flow_argument(call, 3), address, scheduler;
    uint64_t giver;

    return argument_is(call, 0, FLOW_RDI) && flow_is_result(flow, process, &giver) &&
           giver == schedule && pc.offset == 0 && flow_is_memory(flow, pc, &address) &&
           address.base == process.base && address.offset == layout->process_i &&
           x_registers.offset == layout->x_reg_array &&
           flow_is_memory(flow, x_registers, &scheduler) &&
           flow_is_register(scheduler, FLOW_RDI, layout->sched_registers);
}

/* A NIF has its environment in the scheduler's data while it runs: esdp->current_nif = &env. */
static bool sets_current_nif(const struct hooks *hooks, const struct flow *flow,
                             struct flow_value address, struct flow_value value)
{
    (void)flow;
    return flow_is_register(address, FLOW_RDI, hooks->vm->layout.sched_current_nif) &&
           flow_is_stack(value);
}

static void find_dirty(struct hooks *hooks, bool nif, struct function_set *found)
{
    uint64_t schedule = hook_address(hooks, HOOK_SCHEDULE_OUT);
    struct function_set loops = {.count = 0}, called = {.count = 0};

    if (!schedule)
        return;
    hook_search_callers(hooks, schedule, &loops);
    for (size_t i = 0; i < loops.count; i++)
        hook_search_function(hooks, loops.functions[i], runs_dirty, schedule, &called);
    if (called.count != 2)
        return;
    for (size_t i = 0; i < called.count; i++)
        if (hook_stores(hooks, called.functions[i], sets_current_nif) == nif)
            function_set_add(found, called.functions[i]);
}

static void find_dirty_nif(struct hooks *hooks, struct function_set *found)
{
    find_dirty(hooks, true, found);
}

static void find_dirty_bif(struct hooks *hooks, struct function_set *found)
{
    find_dirty(hooks, false, found);
}

/* ---- */

const struct hook_function hook_functions[HOOK_COUNT] = {
    [HOOK_SCHEDULE_OUT] = {"erts_schedule", HOOK_BY_CALLER,
                           "what the JIT's scheduler loop gets processes from", find_schedule},
    [HOOK_SCHEDULE_IN] = {"copy_in_registers", HOOK_BY_CALLER,
                          "what the JIT's scheduler loop passes a new process to, with the X "
                          "registers",
                          find_copy_in},
    [HOOK_ENQUEUE] = {"select_enqueue_run_queue", HOOK_BY_CALLER,
                      "what both erts_schedule and erts_schedule_process pass a process to that "
                      "was activated",
                      find_enqueue},
    [HOOK_WAKE] = {"erts_schedule_process", HOOK_BY_CODE,
                   "what activates its process and can be reached from erts_queue_proc_message",
                   find_wake},
    [HOOK_GC] = {"garbage_collect", HOOK_BY_CALLER,
                 "what erts_garbage_collect_nobump, called by the JIT, passes its arguments to",
                 find_collect},
    [HOOK_GC_HIBERNATE] = {"erts_garbage_collect_hibernate", HOOK_BY_CODE,
                           "what erlang:hibernate/3 leads to that charges the process for a call "
                           "with (p, 1)",
                           find_collect_hibernate},
    [HOOK_SEND] = {"erts_queue_proc_message", HOOK_BY_CODE,
                   "what enif_send calls that stores its last argument and the sender's pid in a "
                   "message",
                   find_send},
    [HOOK_SEND_MANY] = {"erts_queue_proc_messages", HOOK_BY_CODE,
                        "what comes after erts_queue_proc_message and calls the same function",
                        find_send_many},
    [HOOK_RECEIVE] = {"beam_jit_remove_message", HOOK_BY_CALLER,
                      "what code with a receive passes the JIT's state to", find_receive},
    [HOOK_COPY] = {"copy_struct_x", HOOK_BY_CALLER, "what enif_make_copy passes its term to",
                   find_copy},
    [HOOK_SPAWN] = {"erl_create_process", HOOK_BY_CALLER,
                    "what erlang:spawn/3 passes its arguments to", find_create},
    [HOOK_EXIT] = {"erts_do_exit_process", HOOK_BY_CALLER,
                   "what the JIT's normal_exit calls with the reason 'normal'", find_exit},
    [HOOK_EXIT_CONTINUE] = {"erts_continue_exit_process", HOOK_BY_CALLER,
                            "what both the JIT's continue_exit and erts_do_exit_process call",
                            find_exit_continue},
    [HOOK_DIRTY_NIF] = {"erts_call_dirty_nif", HOOK_BY_CODE,
                        "what erts_schedule's C caller passes a process to, and that sets the "
                        "scheduler's current NIF",
                        find_dirty_nif},
    [HOOK_DIRTY_BIF] = {"erts_call_dirty_bif", HOOK_BY_CODE,
                        "what erts_schedule's C caller passes a process to, and that sets no "
                        "current NIF",
                        find_dirty_bif},
};
