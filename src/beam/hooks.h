// SPDX-License-Identifier: Apache-2.0
/*
 * Where a probe goes: functions of the VM by what they do, BIFs and NIFs by their name.
 *
 * A function is found by its symbol where the binary has it (OTP 24 to 28 export most), else by
 * who calls it, or by what its code must do given the VM's structs and the calling convention.
 * Whatever is not a symbol is checked against a second thing that is known of the function; where
 * a check fails, or two functions fit, the point is refused and the error says what was looked for.
 *
 * Addresses are those of the target, of the first instruction of the function: a uprobe's place in
 * the file follows from the mapping that holds it (os/mappings.h). BIFs and the VM's functions lie
 * in the executable, NIFs in the library that has them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "util/error.h"

struct hooks;

/* Arguments in order of the calling convention (the first in rdi). "p" is always a Process *. */
enum hook {
    HOOK_SCHEDULE_OUT,  /* erts_schedule(esd or 0, p or 0, reds): p leaves its scheduler */
    HOOK_SCHEDULE_IN,   /* copy_in_registers(p, registers): p goes on in Erlang code */
    HOOK_WAKE,          /* erts_schedule_process(p, state, locks): p gets a message or a timeout */
    HOOK_WAKE_SIGNAL,   /* erts_proc_sys_schedule(p, state, flags): p gets another signal */
    HOOK_ENQUEUE,       /* select_enqueue_run_queue(how, priority, p, state) or add2runq(the same):
                         * where `how` (an int) is not 0, p becomes runnable, for whatever reason
                         * (1: on a normal scheduler; 2, 3: dirty CPU, I/O). The second not for a p
                         * that leaves a scheduler and goes on being runnable. Not in each build:
                         * where compilers make no function of them, use both wakes. */
    HOOK_GC,            /* garbage_collect(p, live_hf_end, need, objv, nobj, fcalls, max_young) */
    HOOK_GC_HIBERNATE,  /* erts_garbage_collect_hibernate(p) */
    HOOK_FRAGMENT,      /* erts_heap_alloc(p, need, more): words for p, not on its heap */
    HOOK_SEND,          /* erts_queue_proc_message(from, to, locks, message, term) */
    HOOK_SEND_MANY,     /* erts_queue_proc_messages(from, to, locks, first, last, count): those
                         * that tracing made */
    HOOK_QUEUE,         /* erts_proc_sig_queue_try_enqueue_to_buffer(from, to, locks, first, last,
                         * ...), where from is a term: nearly all signals are offered to it,
                         * messages among them, linked by `next` up to where that is at `last`.
                         * Since OTP 25 */
    HOOK_RECEIVE,       /* beam_jit_remove_message(p, ...): **Process.sig_qs.save is taken */
    HOOK_COPY,          /* copy_struct_x(term, words, Eterm **htop, off_heap, ...) */
    HOOK_SPAWN,         /* erl_create_process(parent, module, function, args, options) */
    HOOK_EXIT,          /* erts_do_exit_process(p, reason) */
    HOOK_EXIT_CONTINUE, /* erts_continue_exit_process(p): the first time, and after each yield */
    HOOK_DIRTY_NIF,     /* erts_call_dirty_nif(esd, p, I, registers) */
    HOOK_DIRTY_BIF,     /* erts_call_dirty_bif(esd, p, I, registers) */
    HOOK_AUX_WORK,      /* handle_aux_work(data, work, waiting) */
    HOOK_CHECK_IO,      /* erts_check_io(poll_set, timeout, poll_only) */
    HOOK_FULL_SWEEP,    /* full_sweep_heaps(p, ...): collects all of p's heap */
    HOOK_COUNT
};

enum hook_way {
    HOOK_BY_SYMBOL,
    HOOK_BY_CALLER, /* the JIT's code, or a function found before, calls it */
    HOOK_BY_CODE,   /* the only function whose code does what it must do */
    HOOK_BY_TABLE,  /* a BIF: the VM's table of them */
    HOOK_BY_STUB,   /* a NIF: the code that calls it */
};

struct hook_point {
    uint64_t address;
    enum hook_way way;
};

/* The VM's name of the function behind a hook ("erts_schedule"), and "symbol", "caller"... */
const char *hook_function(enum hook hook);
const char *hook_way_name(enum hook_way way);

/* Both borrowed. Nothing is looked for until it is asked for. NULL with error if the VM's
 * executable can't be read. */
struct hooks *hooks_new(struct vm *vm, struct code *code, struct error *error);
void hooks_free(struct hooks *hooks);

/* Each returns 0, or -1 with ERROR_UNSUPPORTED and what was looked for. Answers are kept. */
int hooks_find(struct hooks *hooks, enum hook hook, struct hook_point *point, struct error *error);

/* The C function of a BIF (Eterm f(p, args, I)); of one that runs on dirty schedulers, the function
 * that runs there. Calls of some guard BIFs are compiled into other code (erlang:length/1,
 * erlang:'+'/2): a probe sees only those made by apply and the like. */
int hooks_bif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error);

/* The C function of a loaded NIF (ERL_NIF_TERM f(env, argc, argv)). */
int hooks_nif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error);

/* A function of the VM by its symbol, or by any name that hook_function() gives. */
int hooks_symbol(struct hooks *hooks, const char *name, struct hook_point *point,
                 struct error *error);
