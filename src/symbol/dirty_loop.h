// SPDX-License-Identifier: Apache-2.0
/*
 * What of a dirty scheduler's native stack belongs to the scheduler.
 *
 * Its thread runs erts_dirty_process_main(), a loop that gets a process from erts_schedule() and
 * calls C code for it (beam_common.c). What that calls is the process' work; the loop itself and
 * how the thread came to it are not:
 *
 *   clone ─ start_thread ─ thr_wrapper ─ sched_dirty_cpu_thread_func ─ erts_dirty_process_main
 *         ─ erts_call_dirty_nif ─ the NIF ...
 *
 * The loop is told by its symbol, or, in a binary that does not export it, by what it does: with
 * the JIT it is the only C function that calls erts_schedule(); schedulers proper do so from code
 * that the JIT makes.
 */
#pragma once

#include "beam/vm.h"
#include "symbol/runtime_names.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

struct dirty_loop;

/* Both borrowed. */
struct dirty_loop *dirty_loop_new(struct vm *vm, struct runtime_names *names);
void dirty_loop_free(struct dirty_loop *loop);

/* Take the scheduler's frames out of the stack of a process on a dirty scheduler. Where the loop is
 * not found among them, all stay. Names what it recognizes, also when no process runs. */
void dirty_loop_cut(struct dirty_loop *loop, const struct snapshot *snapshot,
                    struct unwound *unwound);
