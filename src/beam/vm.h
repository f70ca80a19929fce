// SPDX-License-Identifier: Apache-2.0
/*
 * One Erlang VM, seen from outside: its release, its layout, its roots and its schedulers.
 *
 * vm_open() finds the release, the layout and the addresses of the global tables (by dynamic
 * symbols, or by a search of .data/.bss if they are not exported, as in OTP 29). It checks all of
 * them on the live VM before they are used. It writes nothing into the target and stops none of its
 * threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/features.h"
#include "beam/layout.h"
#include "native/core_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "os/process.h"
#include "util/error.h"
#include "vm_constants.h"

enum { VM_SCHEDULERS_MAX = 4096 };

enum vm_scheduler_type {
    VM_SCHEDULER_NORMAL = ERTS_SCHED_NORMAL,
    VM_SCHEDULER_DIRTY_CPU = ERTS_SCHED_DIRTY_CPU,
    VM_SCHEDULER_DIRTY_IO = ERTS_SCHED_DIRTY_IO,
};

struct vm_scheduler {
    uint64_t data;      /* ErtsSchedulerData * */
    uint64_t registers; /* ErtsSchedulerRegisters * */
    uint64_t run_queue; /* ErtsRunQueue *, always the same one; 0: not known */
    uint64_t tid;       /* pthread_t: equal to the thread's fs base on x86-64 */
    enum vm_scheduler_type type;
    uint32_t number; /* 1.. within its type */
    pid_t task;      /* the tid of its thread, once it was found; else 0 */
};

/* Addresses in the target of the VM's global variables; 0 if not found. */
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
    uint64_t allocators;     /* ErtsAllocatorInfo_t erts_allctrs_info[]; optional */
};

struct vm {
    pid_t pid;                        /* for a core: the pid that it had */
    struct process_identity identity; /* of a live process */
    struct core_file *core;           /* NULL: a live process */
    struct memory *memory;
    struct mappings *mappings;
    uint64_t entry; /* entry point of the program: an address within the executable */
    struct build build;
    struct layout layout;
    struct features features;
    struct vm_roots roots;
    struct vm_scheduler *schedulers; /* all types */
    uint32_t scheduler_count;
    uint32_t scheduler_counts[3]; /* by type */
    uint64_t dirty_gc_info;       /* address of the ErtsGCInfo of dirty schedulers; 0: unknown */
    char executable[256];         /* path in the target's file system */
    bool layout_from_dwarf;
    int assumed_release; /* the release whose features, and layout without DWARF, are used although
                          * the VM is of a newer one; 0: its own */
};

/* Open a live VM. A VM that is newer than all known releases is treated as `assumed_release`, and
 * checked like any other; 0: it is refused unless it has DWARF. Wait up to 3 s for a VM that has
 * just been started. ERROR_NO_PROCESS: there is no such process, it has ended, or it is not a VM.
 * ERROR_PERMISSION: this process may not read it. ERROR_UNSUPPORTED: the release has no layout, a
 * check failed (the text says which one, and what was found), or the process holds back its memory
 * (native/memory.h). */
struct vm *vm_open(pid_t pid, int assumed_release, struct error *error);
/* The same, but do not wait: a VM that has just been started may be unsupported for a moment. */
struct vm *vm_open_now(pid_t pid, int assumed_release, struct error *error);

/* Open the VM of a core file (native/core_file.h). `executable` is the path of its executable here;
 * NULL: the path that it had. ERROR_NO_PROCESS: the core is not of a BEAM; ERROR_UNSUPPORTED as
 * above. */
struct vm *vm_core_open(const char *path, const char *executable, int assumed_release,
                        struct error *error);

void vm_close(struct vm *vm);

/* 0, or -1 with ERROR_UNSUPPORTED if the process has held back a page since: nothing is read of it
 * any more. */
int vm_check_held(const struct vm *vm, struct error *error);

/* The executable's file, owned by the VM; NULL with error. */
struct elf_file *vm_executable(struct vm *vm, struct error *error);

/* Quick test for `ps`: 1 if the executable of this pid is a BEAM, with *build filled; 0 if not; -1
 * with error. */
int vm_identify(pid_t pid, struct build *build, struct error *error);

/* Node name ("nonode@nohost" if not distributed), "" if unknown. */
void vm_node_name(struct vm *vm, char *name, size_t size);
/* Number of processes in the table; sum of the run-queue lengths of the normal schedulers (-1 if
 * unknown). */
uint32_t vm_process_count(struct vm *vm);
int64_t vm_run_queue_length(struct vm *vm);
/* The normal scheduler that runs the process at this address now; NULL if none does. */
const struct vm_scheduler *vm_scheduler_of(struct vm *vm, uint64_t process);

/* Counters of the VM itself. Reductions are of normal schedulers only. Collections of dirty
 * schedulers are among the others if dirty_collections_find_counters() has found their counter. */
enum vm_counter {
    VM_REDUCTIONS,  /* counted when a process leaves its scheduler, 400 each time at least */
    VM_EXECUTED,    /* the same as executed: statistics(reductions) */
    VM_SWITCHES,    /* how often they began to run a process */
    VM_COLLECTIONS, /* of heaps, and the words that they reclaimed */
    VM_COUNTERS,
};

struct vm_work {
    uint64_t count;
    uint64_t amount; /* words of collections; else the count */
};

/* True if the place of this counter is known. */
bool vm_counts(const struct vm *vm, enum vm_counter counter);

/* Read the counters of the set `wanted` (1 << enum vm_counter, or'ed), all at the same time. Return
 * the set of counters that were read: a counter is missing if its place is unknown, or if the VM
 * has ended. */
unsigned int vm_works(struct vm *vm, unsigned int wanted, struct vm_work works[VM_COUNTERS]);

/* Read one counter. False if it is missing. */
bool vm_work(struct vm *vm, enum vm_counter counter, struct vm_work *ret_work);

/* Write a warning for the user if the VM is treated as another release than its own, else "". */
void vm_assumption(const struct vm *vm, char *text, size_t size);

/* "dwarf" or "table". */
const char *vm_layout_source(const struct vm *vm);

/* The form of Erlang frames on the stack: return addresses alone, or {frame pointer, return
 * address} pairs (+JPperf fp). Read from the JIT's list; unknown for the interpreter. */
enum vm_frames { VM_FRAMES_UNKNOWN, VM_FRAMES_RA, VM_FRAMES_FP };
enum vm_frames vm_frames(struct vm *vm);
