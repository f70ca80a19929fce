// SPDX-License-Identifier: Apache-2.0
/*
 * Separates the frames of a dirty scheduler from those of its process.
 *
 * The scheduler's thread runs erts_dirty_process_main(), a loop that gets a process from
 * erts_schedule() and calls C code for it (beam_common.c). The frames that the loop calls belong to
 * the process. The loop and its callers belong to the scheduler:
 *
 *   clone ─ start_thread ─ thr_wrapper ─ sched_dirty_cpu_thread_func ─ erts_dirty_process_main
 *         ─ erts_call_dirty_nif ─ the NIF ...
 *
 * The loop is found by its symbol. In a binary that does not export the symbol, it is found by its
 * call: with the JIT it is the only C function that calls erts_schedule(). Normal schedulers call
 * erts_schedule() from JIT code.
 */
#pragma once

#include "beam/vm.h"
#include "symbol/runtime_names.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

struct dirty_loop;

/* Borrows both. */
struct dirty_loop *dirty_loop_new(struct vm *vm, struct runtime_names *names);
void dirty_loop_free(struct dirty_loop *loop);

/* Remove the scheduler's frames from the stack of a process on a dirty scheduler. All frames stay
 * if the loop is not among them. Also gives names to the functions that it recognizes, even if no
 * process runs. */
void dirty_loop_cut(struct dirty_loop *loop, const struct snapshot *snapshot,
                    struct unwound *unwound);
