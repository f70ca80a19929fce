// SPDX-License-Identifier: Apache-2.0
/*
 * How to find the functions of hooks in a binary that does not export them (OTP 29, and static
 * functions in all releases): by their arguments, calls and stores. These follow from the C sources
 * and the layout of the VM's structs, whatever code the compiler generates.
 */
#include <string.h>

#include "hooks/hook_internal.h"
#include "beam/term.h"
#include "native/native_symbols.h"
#include "vm_constants.h"

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

/* ---- garbage collection ---- */

/* erts_garbage_collect_nobump(p, need, objv, nobj, fcalls)
 * (erl_gc.c 25.2.3:879, 27.3.4.1:934, 29.1.1:967) calls garbage_collect(p, ERTS_INVALID_HFRAG_PTR,
 * need, objv, nobj, fcalls, 0). */
static bool collects(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_number(match, 1, ERTS_INVALID_HFRAG_PTR) &&
           argument_is_own(match, 2, 1) && argument_is_own(match, 3, 2) &&
           argument_is_own(match, 4, 3) && argument_is_own(match, 5, 4);
}

static void find_collect(struct hooks *hooks, struct function_set *found)
{
    uint64_t nobump = called_by_fragment(hooks, "erts_garbage_collect_nobump");

    if (nobump)
        hooks_search_function(hooks, nobump, collects, 0, found);
}

static bool collects_hibernating(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_number(match, 1, 1);
}

static bool counts_reductions(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(0),
                            match->hooks->vm->layout.process_fcalls);
}

static bool takes_process(const struct call_match *match)
{
    return argument_is_own(match, 0, 0);
}

/* erlang:hibernate/3 calls erts_hibernate(p, ...), which calls erts_garbage_collect_hibernate(p):
 *     reds = garbage_collect_hibernate(p, 1); BUMP_REDS(p, reds)
 *                                             (erl_gc.c 27.3.4.1:1137, 29.1.1:1129) */
static void find_collect_hibernate(struct hooks *hooks, struct function_set *found)
{
    struct function_set hibernate = {.count = 0}, called = {.count = 0};
    const struct bif *bif = hooks_find_bif(hooks, "erlang", "hibernate", 3, NULL);

    if (!bif)
        return;
    hooks_search_function(hooks, bif->implementation, takes_process, 0, &hibernate);
    for (size_t i = 0; i < hibernate.count; i++)
        hooks_search_function(hooks, hibernate.functions[i], takes_process, 0, &called);
    for (size_t i = 0; i < called.count; i++) {
        struct function_set inner = {.count = 0};

        hooks_search_function(hooks, called.functions[i], collects_hibernating, 0, &inner);
        if (inner.count == 1 && hooks_stores(hooks, called.functions[i], counts_reductions))
            hooks_set_add(found, called.functions[i]);
    }
}

/* setelement_3(p, args) (bif.c 25.2.3:2923, 27.3.4.1:2709, 29.1.1:2976) allocates with HAlloc(p,
 * size), which calls erts_heap_alloc(p, size, 0) if the heap is full. */
static bool allocates(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_number(match, 2, 0);
}

static bool adds_fragment(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(0), match->hooks->vm->layout.process_mbuf);
}

static void find_fragment(struct hooks *hooks, struct function_set *found)
{
    const struct bif *bif = hooks_find_bif(hooks, "erlang", "setelement", 3, NULL);
    struct function_set called = {.count = 0};

    if (bif)
        hooks_search_function(hooks, bif->implementation, allocates, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (hooks_stores(hooks, called.functions[i], adds_fragment))
            hooks_set_add(found, called.functions[i]);
}

/* ---- messages ---- */

/* erts_queue_proc_message(sender, receiver, locks, message, term)
 * (erl_message.c 25.2.3:538, 27.3.4.1:538, 29.1.1:532) stores ERL_MESSAGE_TERM(message) = term and
 * ERL_MESSAGE_FROM(message) = sender->common.id, words 0 and 2 of m[]. */
static bool stores_term(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(3), match->hooks->vm->layout.message_m) &&
           flow_is_register(match->value, own_argument(4), 0);
}

static bool stores_sender(const struct store_match *match)
{
    return flow_is_register(match->address, own_argument(3),
                            match->hooks->vm->layout.message_m + 16) &&
           flow_is_field(match->flow, match->value, own_argument(0),
                         match->hooks->vm->layout.process_id);
}

static void find_send(struct hooks *hooks, struct function_set *found)
{
    uint64_t enif_send = exported(hooks, "enif_send");
    struct function_set called = {.count = 0};

    if (enif_send)
        hooks_search_function(hooks, enif_send, NULL, 0, &called);
    for (size_t i = 0; i < called.count; i++)
        if (hooks_stores(hooks, called.functions[i], stores_term) &&
            hooks_stores(hooks, called.functions[i], stores_sender))
            hooks_set_add(found, called.functions[i]);
}

static bool queues_from_sender(const struct call_match *match)
{
    return flow_is_field(match->flow, argument(match, 0), own_argument(0),
                         match->hooks->vm->layout.process_id) &&
           argument_is_own(match, 1, 1) && argument_is_own(match, 2, 2);
}

static bool queues_to_last(const struct call_match *match)
{
    return match->call->target == match->detail && queues_from_sender(match) &&
           argument_is_own(match, 4, 4);
}

/* erts_queue_proc_messages(sender, receiver, locks, first, last, count) is the next function in the
 * source. It calls the same function as erts_queue_proc_message(), but passes the end of the
 * messages. */
static void find_send_many(struct hooks *hooks, struct function_set *found)
{
    uint64_t send = hook_address(hooks, HOOK_SEND), next;
    struct function_set queue = {.count = 0}, same = {.count = 0};

    if (!send || !(next = hooks_next_function(hooks, send)))
        return;
    hooks_search_function(hooks, send, queues_from_sender, 0, &queue);
    if (queue.count != 1)
        return;
    hooks_search_function(hooks, next, queues_to_last, queue.functions[0], &same);
    if (same.count == 1)
        hooks_set_add(found, next);
}

/* With last_next == NULL: the signals are all messages. */
static bool offers(const struct call_match *match)
{
    return queues_from_sender(match) && argument_is_number(match, 5, 0);
}

static bool offers_passed_on(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_own(match, 1, 1) &&
           argument_is_own(match, 2, 2) && argument_is_own(match, 3, 3) &&
           argument_is_own(match, 4, 4) && argument_is_number(match, 5, 0);
}

/* Find the functions to which `function` offers its messages: its own calls, or those of
 * queue_messages(), which may be inlined. */
static void search_offers(struct hooks *hooks, uint64_t function, struct function_set *found)
{
    struct function_set queue = {.count = 0};

    hooks_search_function(hooks, function, offers, 0, found);
    if (found->count)
        return;
    hooks_search_function(hooks, function, queues_from_sender, 0, &queue);
    for (size_t i = 0; i < queue.count; i++)
        hooks_search_function(hooks, queue.functions[i], offers_passed_on, 0, found);
}

/* queue_messages(from, to, locks, first, last, count)
 * (erl_message.c 25.2.3:378, 27.3.4.1:378, 29.1.1:372) begins with
 * erts_proc_sig_queue_try_enqueue_to_buffer(from, to, locks, first, last, NULL, count). The
 * searches from HOOK_SEND and from HOOK_SEND_MANY must both find the function. */
static void find_queue(struct hooks *hooks, struct function_set *found)
{
    uint64_t send = hook_address(hooks, HOOK_SEND), many = hook_address(hooks, HOOK_SEND_MANY);
    struct function_set by_one = {.count = 0}, by_many = {.count = 0};

    if (!send || !many)
        return;
    search_offers(hooks, send, &by_one);
    search_offers(hooks, many, &by_many);
    for (size_t i = 0; i < by_one.count; i++)
        if (hooks_set_has(&by_many, by_one.functions[i]))
            hooks_set_add(found, by_one.functions[i]);
}

/* Code of a receive calls beam_jit_remove_message(c_p, FCALLS, HTOP, E, active_code_ix). No other
 * function gets these arguments (x86/instr_msg.cpp 25.2.3:290, 27.3.4.1:244, 29.1.1:250). Heap top
 * and stack are in their registers, or an earlier call made the code reload them from the process.
 */
static bool removes_message(const struct call_match *match)
{
    const struct layout *layout = &match->hooks->vm->layout;
    struct flow_value heap_top = argument(match, 2), stack = argument(match, 3);

    return argument_is(match, 0, JIT_C_P) && argument_is(match, 4, JIT_ACTIVE_CODE_IX) &&
           (flow_is_register(heap_top, JIT_HTOP, heap_top.offset) ||
            flow_is_field(match->flow, heap_top, JIT_C_P, layout->process_htop)) &&
           (flow_is_stack(stack) ||
            flow_is_field(match->flow, stack, JIT_C_P, layout->process_stop));
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

    if (place->kind != CODE_HEADER && !place->is_function_header &&
        (!search->symbol || !strcmp(place->symbol, search->symbol)))
        hooks_search_place(search->hooks, place, search->pattern, 0, search->found);
    return true;
}

static void find_receive(struct hooks *hooks, struct function_set *found)
{
    /* The VM has these modules from its start, and each has a receive. */
    static const char *const MODULES[] = {"erts_code_purger", "erts_dirty_process_signal_handler",
                                          "erts_literal_area_collector"};

    for (size_t i = 0; i < sizeof(MODULES) / sizeof(*MODULES); i++)
        code_each(hooks->code, MODULES[i], search_place,
                  &(struct place_search){hooks, NULL, removes_message, found});
}

/* enif_make_copy(env, term) (erl_nif.c 25.2.3:1105, 29.1.1:1194) has make_copy() inline
 * (29.1.1:843), which calls copy_struct_x(term, size_object(term), &hp, &env->proc->off_heap, NULL,
 * NULL). */
static bool copies_term(const struct call_match *match)
{
    const struct layout *layout = &match->hooks->vm->layout;
    struct flow_value off_heap = argument(match, 3), process;

    return argument_is_own(match, 0, 1) && flow_is_result(match->flow, argument(match, 1), NULL) &&
           argument_is_stack(match, 2) && off_heap.offset == layout->process_off_heap_first &&
           flow_is_memory(match->flow, off_heap, &process) &&
           flow_is_register(process, own_argument(0), layout->nif_env_proc) &&
           argument_is_number(match, 4, 0) && argument_is_number(match, 5, 0);
}

static void find_copy(struct hooks *hooks, struct function_set *found)
{
    uint64_t enif_make_copy = exported(hooks, "enif_make_copy");

    if (enif_make_copy)
        hooks_search_function(hooks, enif_make_copy, copies_term, 0, found);
}

/* ---- spawn and exit ---- */

/* True if argument `index` is the word at `offset` of a BIF's arguments. */
static bool argument_is_word(const struct call_match *match, unsigned int index, int64_t offset)
{
    return flow_is_field(match->flow, argument(match, index), own_argument(1), offset);
}

/* spawn_3(p, args) (bif.c 25.2.3:80, 29.1.1:90) calls erl_create_process(p, args[0], args[1],
 * args[2], &so). */
static bool creates_process(const struct call_match *match)
{
    return argument_is_own(match, 0, 0) && argument_is_word(match, 1, 0) &&
           argument_is_word(match, 2, 8) && argument_is_word(match, 3, 16) &&
           argument_is_stack(match, 4);
}

static void find_create(struct hooks *hooks, struct function_set *found)
{
    const struct bif *bif = hooks_find_bif(hooks, "erlang", "spawn", 3, NULL);

    if (bif)
        hooks_search_function(hooks, bif->implementation, creates_process, 0, found);
}

/* The JIT's stubs at the root of each stack
 * (x86/instr_common.cpp 25.2.3:232, 27.3.4.1:266, 29.1.1:268): normal_exit calls
 * erts_do_exit_process(c_p, am_normal), continue_exit calls erts_continue_exit_process(c_p). */
static bool exits_normally(const struct call_match *match)
{
    struct flow_value reason = argument(match, 1);
    const char *text = NULL;

    if (flow_is_number(reason, reason.offset))
        text = atom_text(match->hooks->atoms, (uint64_t)reason.offset);
    return argument_is(match, 0, JIT_C_P) && text && !strcmp(text, "normal");
}

static void find_exit(struct hooks *hooks, struct function_set *found)
{
    code_each(hooks->code, "erts_beamasm", search_place,
              &(struct place_search){hooks, "erts_beamasm:normal_exit/0", exits_normally, found});
}

static bool continues_exit(const struct call_match *match)
{
    return argument_is(match, 0, JIT_C_P);
}

/* erts_do_exit_process() ends with a call of erts_continue_exit_process(). */
static void find_exit_continue(struct hooks *hooks, struct function_set *found)
{
    uint64_t do_exit = hook_address(hooks, HOOK_EXIT);
    struct function_set stub = {.count = 0}, last = {.count = 0};

    if (!do_exit)
        return;
    code_each(hooks->code, "erts_beamasm", search_place,
              &(struct place_search){hooks, "erts_beamasm:continue_exit/0", continues_exit, &stub});
    hooks_search_function(hooks, do_exit, takes_process, 0, &last);
    for (size_t i = 0; i < stub.count; i++)
        if (hooks_set_has(&last, stub.functions[i]))
            hooks_set_add(found, stub.functions[i]);
}

/* ---- */

const struct hook_function hook_functions[HOOK_COUNT] = {
    [HOOK_SCHEDULE_OUT] = {"erts_schedule", HOOK_BY_CALLER,
                           "the function that the JIT's scheduler loop calls to get a process",
                           scheduling_hook_schedule},
    [HOOK_SCHEDULE_IN] =
        {"copy_in_registers", HOOK_BY_CALLER,
         "the function that the JIT's scheduler loop calls with a new process and the X registers",
         scheduling_hook_copy_in},
    [HOOK_WAKE] = {"erts_schedule_process", HOOK_BY_CODE,
                   "the function below erts_queue_proc_message that takes a process, its state and "
                   "its locks, and changes the state",
                   scheduling_hook_wake},
    [HOOK_WAKE_SIGNAL] = {"erts_proc_sys_schedule", HOOK_BY_CODE,
                          "the function below erts_queue_proc_message that takes a process, its "
                          "state and a flag, and changes the state",
                          scheduling_hook_wake_signal},
    [HOOK_ENQUEUE] = {"select_enqueue_run_queue", HOOK_BY_CODE,
                      "the function that erts_schedule_process calls with its process, and that "
                      "erts_schedule calls too or that appends the process to a list",
                      scheduling_hook_enqueue},
    [HOOK_GC] = {"garbage_collect", HOOK_BY_CALLER,
                 "the function that erts_garbage_collect_nobump, which the JIT's code calls, calls "
                 "with its own arguments",
                 find_collect},
    [HOOK_GC_HIBERNATE] = {"erts_garbage_collect_hibernate", HOOK_BY_CODE,
                           "the function below erlang:hibernate/3 that calls a function with "
                           "(process, 1) and charges the process for the call",
                           find_collect_hibernate},
    [HOOK_FRAGMENT] = {"erts_heap_alloc", HOOK_BY_CODE,
                       "the function that setelement/3 calls with its process, and that adds a "
                       "heap fragment to the process",
                       find_fragment},
    [HOOK_SEND] = {"erts_queue_proc_message", HOOK_BY_CODE,
                   "the function that enif_send calls, and that stores its last argument and the "
                   "sender's pid in a message",
                   find_send},
    [HOOK_SEND_MANY] =
        {"erts_queue_proc_messages", HOOK_BY_CODE,
         "the function that follows erts_queue_proc_message and calls the same function",
         find_send_many},
    [HOOK_QUEUE] = {"erts_proc_sig_queue_try_enqueue_to_buffer", HOOK_BY_CODE,
                    "the function that erts_queue_proc_message and erts_queue_proc_messages call "
                    "with their messages",
                    find_queue},
    [HOOK_RECEIVE] = {"beam_jit_remove_message", HOOK_BY_CALLER,
                      "the function that Erlang code with a receive calls with the JIT's state",
                      find_receive},
    [HOOK_COPY] = {"copy_struct_x", HOOK_BY_CALLER,
                   "the function that enif_make_copy calls with its term", find_copy},
    [HOOK_SPAWN] = {"erl_create_process", HOOK_BY_CALLER,
                    "the function that erlang:spawn/3 calls with its arguments", find_create},
    [HOOK_EXIT] = {"erts_do_exit_process", HOOK_BY_CALLER,
                   "the function that the JIT's normal_exit calls with the reason 'normal'",
                   find_exit},
    [HOOK_EXIT_CONTINUE] =
        {"erts_continue_exit_process", HOOK_BY_CALLER,
         "the function that the JIT's continue_exit and erts_do_exit_process call",
         find_exit_continue},
    [HOOK_DIRTY_NIF] = {"erts_call_dirty_nif", HOOK_BY_CODE,
                        "the function that erts_schedule's C caller calls with a process, and that "
                        "sets the scheduler's current NIF",
                        scheduling_hook_dirty_nif},
    [HOOK_DIRTY_BIF] = {"erts_call_dirty_bif", HOOK_BY_CODE,
                        "the function that erts_schedule's C caller calls with a process, and that "
                        "sets no current NIF",
                        scheduling_hook_dirty_bif},
    [HOOK_AUX_WORK] = {"handle_aux_work", HOOK_BY_CALLER,
                       "the function that erts_schedule calls with the scheduler's aux_work_data, "
                       "and that resets a field of it",
                       scheduling_hook_aux_work},
    [HOOK_CHECK_IO] = {"erts_check_io", HOOK_BY_CALLER,
                       "the function that erts_schedule calls with the lowest 64-bit number as its "
                       "time limit (no limit)",
                       scheduling_hook_check_io},
    [HOOK_SCHED_WAIT] = {"scheduler_wait", HOOK_BY_CALLER,
                         "the function that erts_schedule calls, and that calls handle_aux_work "
                         "and erts_check_io, as erts_schedule does",
                         scheduling_hook_scheduler_wait},
    [HOOK_FULL_SWEEP] = {"full_sweep_heaps", HOOK_BY_CALLER,
                         "the function that garbage_collect and erts_garbage_collect_hibernate "
                         "call with the process and a new heap",
                         scheduling_hook_full_sweep},
};
