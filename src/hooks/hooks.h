// SPDX-License-Identifier: Apache-2.0
/*
 * Where a probe is placed: VM functions found by their role, BIFs and NIFs by their name.
 *
 * A function is found by its symbol if the binary has it (OTP 24 to 28 export most). Otherwise it
 * is found by its callers, or by what its code must do, given the VM's structs and the calling
 * convention. A function found without a symbol must pass a second check. If a check fails, or if
 * two functions fit, the hook is refused, and the error describes the wanted function.
 *
 * A symbol that was split off (native/debug_file.h) counts too, if a function of the binary starts
 * there. If the search without symbols finds others, the hook is refused.
 *
 * An address is the function's first instruction in the target. The place of a uprobe in the file
 * follows from the mapping that contains the address (native/mappings.h). BIFs and the VM's
 * functions are in the executable, NIFs in their library.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "native/memory.h"
#include "util/error.h"

struct hooks;

/* Arguments are in the order of the calling convention (the first in rdi). "p" is always a
 * Process *. */
enum hook {
    HOOK_SCHEDULE_OUT,  /* erts_schedule(esd or 0, p or 0, reds): p leaves its scheduler */
    HOOK_SCHEDULE_IN,   /* copy_in_registers(p, registers): p resumes Erlang code */
    HOOK_WAKE,          /* erts_schedule_process(p, state, locks): p gets a message or a timeout */
    HOOK_WAKE_SIGNAL,   /* erts_proc_sys_schedule(p, state, flags): p gets another signal */
    HOOK_ENQUEUE,       /* select_enqueue_run_queue(how, priority, p, state) or add2runq(the same):
                         * if `how` (an int) is not 0, p becomes runnable, for any reason (1: on a
                         * normal scheduler; 2, 3: dirty CPU, I/O). add2runq is not called for a p
                         * that leaves a scheduler and stays runnable. Optional: if the compiler has
                         * inlined both, use HOOK_WAKE and HOOK_WAKE_SIGNAL. */
    HOOK_GC,            /* garbage_collect(p, live_hf_end, need, objv, nobj, fcalls, max_young) */
    HOOK_GC_HIBERNATE,  /* erts_garbage_collect_hibernate(p) */
    HOOK_FRAGMENT,      /* erts_heap_alloc(p, need, more): words for p outside of its heap */
    HOOK_SEND,          /* erts_queue_proc_message(from, to, locks, message, term) */
    HOOK_SEND_MANY,     /* erts_queue_proc_messages(from, to, locks, first, last, count): messages
                         * of tracing */
    HOOK_QUEUE,         /* erts_proc_sig_queue_try_enqueue_to_buffer(from, to, locks, first, last,
                         * ...), where `from` is a term. Gets nearly all signals, messages among
                         * them. They are linked by `next`, up to the signal whose `next` is at
                         * `last`. Since OTP 25 */
    HOOK_RECEIVE,       /* beam_jit_remove_message(p, ...): removes **Process.sig_qs.save */
    HOOK_COPY,          /* copy_struct_x(term, words, Eterm **htop, off_heap, ...) */
    HOOK_SPAWN,         /* erl_create_process(parent, module, function, args, options) */
    HOOK_EXIT,          /* erts_do_exit_process(p, reason) */
    HOOK_EXIT_CONTINUE, /* erts_continue_exit_process(p): the first time, and after each yield */
    HOOK_DIRTY_NIF,     /* erts_call_dirty_nif(esd, p, I, registers) */
    HOOK_DIRTY_BIF,     /* erts_call_dirty_bif(esd, p, I, registers) */
    HOOK_AUX_WORK,      /* handle_aux_work(data, work, waiting) */
    HOOK_CHECK_IO,      /* erts_check_io(poll_set, timeout, poll_only) */
    HOOK_SCHED_WAIT,    /* scheduler_wait(fcalls, esd, run queue): spins, polls and sleeps */
    HOOK_FULL_SWEEP,    /* full_sweep_heaps(p, ...): collects all of p's heap */
    HOOK_COUNT
};

enum hook_method {
    HOOK_BY_SYMBOL,
    HOOK_BY_DEBUG_FILE, /* by a symbol that was split off */
    HOOK_BY_CALLER,     /* called by JIT code, or by a function found before */
    HOOK_BY_CODE,       /* the only function whose code does what it must do */
    HOOK_BY_TABLE,      /* a BIF, by its row in the VM's table */
    HOOK_BY_STUB,       /* a NIF, by the stub that calls it */
};

struct hook_point {
    uint64_t address;
    enum hook_method way;
};

/* The VM's name of a hook's function ("erts_schedule"); the name of a way ("symbol",
 * "caller"...). */
const char *hook_function(enum hook hook);
const char *hook_method_name(enum hook_method way);

/* `vm` and `code` are borrowed. A hook is searched for at its first request. NULL with error if the
 * VM's executable can't be read. */
struct hooks *hooks_new(struct vm *vm, struct code *code, struct error *error);
void hooks_free(struct hooks *hooks);

/* Each returns 0, or -1 with ERROR_UNSUPPORTED and a text that describes the wanted function.
 * hooks_find() keeps its answers. */
int hooks_find(struct hooks *hooks, enum hook hook, struct hook_point *point, struct error *error);

/* Find the counters of the VM that only its code leads to: vm->dirty_gc_info. */
void dirty_collections_find_counters(struct hooks *hooks);

/* Find the C function of a BIF (Eterm f(p, args, I)); for a dirty BIF, the function that runs on
 * the dirty scheduler. A BIF whose calls are instructions of the code that calls it is refused
 * (erlang:length/1, erlang:'+'/2): its C function gets only calls by apply and the like. */
int hooks_bif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error);

/* Set *ret_is_bif. Return -1 with error if the BIFs of this VM are not known. */
int hooks_is_bif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
                 bool *ret_is_bif, struct error *error);

/* Find the C function of a loaded NIF (ERL_NIF_TERM f(env, argc, argv)). */
int hooks_nif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error);

/* Find a function of the VM by its symbol, split off or not, or by any name that hook_function()
 * returns. */
int hooks_symbol(struct hooks *hooks, const char *name, struct hook_point *point,
                 struct error *error);

/*
 * The stub that replaces the code of an Erlang function when a NIF is loaded for it. The stub
 * contains the address of the C function (x86/instr_bif.cpp emit_call_nif, 25.2.3:967,
 * 29.1.1:1059).
 */

struct nif_stub {
    uint64_t called; /* the function that Erlang code calls; it schedules a dirty NIF */
    uint64_t dirty;  /* the function that runs on a dirty scheduler, or 0 */
};

/* False if the function that starts at `function` is not such a stub, or can't be read. */
bool hooks_read_nif_stub(struct memory *memory, uint64_t function, struct nif_stub *stub);

/* ---- drivers.c ---- */

/* The functions that the VM calls in its port drivers. */

/* Called with the address of a function. Returns false if it was seen before: its tail calls were
 * then visited too. */
typedef bool (*driver_visit)(void *context, uint64_t function);

/* Visit the driver functions that can be on the stack after the VM has called a driver: the
 * callbacks, and the functions that a callback jumps to at its end. Drivers are found by the ports
 * that use them. Drivers and functions that can't be read are skipped. */
void drivers_each_function(struct vm *vm, driver_visit visit, void *context);

/* ---- fragment_calls.c ---- */

/*
 * Names of VM functions, derived from their callers: shared fragments of the JIT call the same
 * runtime functions in the same order in every release. A fragment is skipped if its number of
 * calls differs from the known one.
 */

/* Called with the address of a function and its name, a constant string. */
typedef void (*fragment_calls_visit)(void *context, uint64_t address, const char *name);
void fragment_calls_each(struct vm *vm, struct code *code, fragment_calls_visit visit,
                         void *context);
