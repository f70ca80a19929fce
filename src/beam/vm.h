// SPDX-License-Identifier: Apache-2.0
/*
 * One Erlang VM as seen from outside: what it is, and where its roots lie.
 *
 * vm_open() finds out which release it is, which layout it has, and where its global tables are
 * (dynamic symbols where exported, scanning .data/.bss where not, as in OTP 29), and believes none
 * of it before checks on the live VM agree. Nothing is written into the target and nothing in it
 * is stopped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/layout.h"
#include "os/core_file.h"
#include "os/mappings.h"
#include "os/memory.h"
#include "util/error.h"

enum { VM_SCHEDULERS_MAX = 4096 };

/* Same numbers as enum ErtsSchedulerType (erl_process.h 25:118). */
enum vm_scheduler_type { VM_SCHEDULER_NORMAL, VM_SCHEDULER_DIRTY_CPU, VM_SCHEDULER_DIRTY_IO };

struct vm_scheduler {
    uint64_t data;      /* ErtsSchedulerData * */
    uint64_t registers; /* ErtsSchedulerRegisters * */
    uint64_t tid;       /* pthread_t: equal to the thread's fs base on x86-64 */
    enum vm_scheduler_type type;
    uint32_t number; /* 1.. within its type */
};

/* Addresses in the target of the VM's global variables; 0 where not found. */
struct vm_roots {
    uint64_t proc_table;     /* ErtsPTab erts_proc */
    uint64_t port_table;     /* ErtsPTab erts_port (optional) */
    uint64_t atom_table;     /* IndexTable erts_atom_table */
    uint64_t schedulers[3];  /* ErtsAlignedSchedulerData *, by type: value of the variables */
    uint64_t jit_descriptor; /* __jit_debug_descriptor; 0 for the interpreter */
    uint64_t normal_exit;    /* ErtsCodePtr beam_normal_exit: value; 0 if not exported */
    uint64_t code_ranges;    /* static struct ranges r[3] of beam_ranges.c */
    uint64_t this_node;      /* ErlNode *erts_this_node (the variable); optional */
    uint64_t run_queues;     /* ErtsAlignedRunQueue *: value; optional */
};

struct vm {
    pid_t pid;              /* of a core: that which it had */
    struct core_file *core; /* NULL: it is alive */
    struct memory *memory;
    struct mappings *mappings;
    uint64_t
        entry; /* where its program is entered: within the executable, whatever else is mapped */
    struct build build;
    struct layout layout;
    struct vm_roots roots;
    struct vm_scheduler *schedulers; /* all types */
    uint32_t scheduler_count;
    uint32_t scheduler_counts[3]; /* by type */
    char executable[256];         /* path as the target sees it */
    bool layout_from_dwarf;
};

/* ERROR_NO_PROCESS: no such pid, it ended, or it is not a BEAM. ERROR_PERMISSION: may not read
 * it. ERROR_UNSUPPORTED: a BEAM whose release has no layout, or on which a check failed (says
 * which and what was found). A VM that has just been started is waited for, 3 s at most. */
struct vm *vm_open(pid_t pid, struct error *error);

/* The VM that a core file (os/core_file.h) is of, from the executable at this path here; NULL:
 * where it was. ERROR_NO_PROCESS: it is not of a BEAM; ERROR_UNSUPPORTED as above. */
struct vm *vm_open_core(const char *path, const char *executable, struct error *error);

void vm_close(struct vm *vm);

/* The executable's file, which lives as long as the VM; NULL with error. */
struct elf_file *vm_executable(struct vm *vm, struct error *error);

/* Quick test for `ps`: is the executable of this pid a BEAM? Fills *build. 1, 0, or -1. */
int vm_identify(pid_t pid, struct build *build, struct error *error);

/* Node name ("nonode@nohost" if not distributed), "" if it can't be told. */
void vm_node_name(struct vm *vm, char *name, size_t size);
/* Number of processes in the table; run-queue length summed (-1 if not known). */
uint32_t vm_process_count(struct vm *vm);
int64_t vm_run_queue_length(struct vm *vm);
/* The normal scheduler that runs the process at this address now; NULL if none does. */
const struct vm_scheduler *vm_scheduler_of(struct vm *vm, uint64_t process);

/* Reductions that processes have used on normal schedulers so far, each as it left; false if that
 * can't be told. */
bool vm_reductions(struct vm *vm, uint64_t *reductions);

/* "dwarf" or "table". */
const char *vm_layout_source(const struct vm *vm);

/* The callee-saved register (enum of os/cfi.h) in which the JIT keeps the top of the Erlang stack
 * over a call to C before which it did not save it in Process.stop. */
unsigned int vm_saved_top(const struct vm *vm);

/* How Erlang frames lie on the stack: return addresses alone, or {frame pointer, return address}
 * pairs (+JPperf fp). Told from the JIT's own list; not known for the interpreter. */
enum vm_frames { VM_FRAMES_UNKNOWN, VM_FRAMES_RA, VM_FRAMES_FP };
enum vm_frames vm_frames(struct vm *vm);
