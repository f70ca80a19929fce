// SPDX-License-Identifier: Apache-2.0
/* From addresses to named and classified frames: what the files of this folder share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/code.h"
#include "beam/vm.h"
#include "hooks/hooks.h"
#include "native/reachability.h"
#include "os/kernel_symbols.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

/* ---- runtime_names.c ---- */

/*
 * Names for functions of the VM that its binary does not export (OTP 29 exports 1 % of its code).
 * The callers of a function give its name:
 *
 *   - Fragments of the JIT call the same runtime functions in the same order in every release.
 *   - Code that calls a BIF contains the address of the BIF's C function. The name of that function
 *     follows from the BIF's name (utils/make_tables 25.2.3:317).
 *   - The stacks of dirty schedulers show two functions (symbol/frames_internal.h).
 *
 * The first two are checked against the code: a fragment with an unexpected number of calls names
 * nothing, and the calling code must contain the address of a BIF's function.
 */

struct runtime_names;

/* Borrows both. Reads the fragments. */
struct runtime_names *runtime_names_new(struct vm *vm, struct code *code);
void runtime_names_free(struct runtime_names *names);

/* Learn the C function of the BIF `module`:`function`/`arity`. `start`: the start of the outermost
 * native frame's function. `return_address`: in the Erlang code that called the BIF. */
void runtime_names_learn_bif(struct runtime_names *names, uint64_t start, uint64_t return_address,
                             const char *module, const char *function, uint32_t arity);

/* Name the function that starts at an address, unless it has a name. `name` is not copied. */
void runtime_names_learn(struct runtime_names *names, uint64_t start, const char *name);

/* The name of the function that starts at an address, or NULL. */
const char *runtime_names_find(const struct runtime_names *names, uint64_t start);

/* ---- state_functions.c ---- */

/*
 * The functions of a VM at which its microstate accounting changes the state, or which tell states
 * apart (symbol/threads_internal.h). Most binaries have no symbols for them, so the functions of
 * hooks/hooks.h find them. A function that is not found stays unknown, without a message.
 */

enum state_function {
    FUNCTION_OTHER,
    FUNCTION_SCHEDULE,   /* erts_schedule() */
    FUNCTION_AUX_WORK,   /* handle_aux_work() */
    FUNCTION_CHECK_IO,   /* erts_check_io() */
    FUNCTION_DRIVER,     /* a callback of a driver */
    FUNCTION_COLLECT,    /* garbage_collect() */
    FUNCTION_FULL_SWEEP, /* full_sweep_heaps(), and its callers except garbage_collect():
                          * major_collection(), if the compiler did not inline it */
    STATE_FUNCTIONS,
};

struct state_functions;

/* Borrows all. At first no function is known. */
struct state_functions *state_functions_new(struct vm *vm, struct code *code,
                                            struct runtime_names *names);
void state_functions_free(struct state_functions *functions);

/* Find all functions, and name all hooks that have no name. That takes 30 to 60 ms. */
void state_functions_find(struct state_functions *functions, struct hooks *hooks);
/* Find the callbacks of drivers that came into use since. */
void state_functions_find_drivers(struct state_functions *functions);
/* Find the other callers of full_sweep_heaps(), and the paths in garbage_collect() that lead to it.
 * `collect`, `full_sweep`: addresses of these functions; `full_sweep` must have been added. */
void state_functions_find_sweeps(struct state_functions *functions, uint64_t collect,
                                 uint64_t full_sweep);

void state_functions_add(struct state_functions *functions, enum state_function function,
                         uint64_t start);

/* The kind of the function that starts at an address. */
enum state_function state_functions_get(const struct state_functions *functions, uint64_t start);
bool state_functions_know(const struct state_functions *functions, enum state_function function);
/* A number that changes when functions are added. */
uint32_t state_functions_version(const struct state_functions *functions);

/* Return whether garbage_collect() still has a full sweep ahead when it is at this address
 * (native/reachability.h). CALL_UNKNOWN if its paths are unknown. */
enum call_ahead state_functions_sweep_ahead(const struct state_functions *functions,
                                            uint64_t address);

/* ---- frame_class.c ---- */

/*
 * What a frame tells about the frames that it called. A frame gets its class with its name, once
 * for each address (symbol/frames_internal.h). The classes of a stack tell what its thread does
 * (symbol/threads_internal.h).
 */

enum frame_class {
    CLASS_ERLANG,     /* not native code */
    CLASS_BIF,        /* not native code either, but called native code: a BIF or NIF */
    CLASS_SYSTEM,     /* the kernel or a library */
    CLASS_VM,         /* any other function of the VM */
    CLASS_SCHEDULE,   /* erts_schedule() */
    CLASS_AUX,        /* handle_aux_work() */
    CLASS_CHECK_IO,   /* erts_check_io(), driver_select() */
    CLASS_PORT,       /* a callback of a driver */
    CLASS_COLLECT,    /* garbage_collect() */
    CLASS_FULL_SWEEP, /* full_sweep_heaps(), or a caller below garbage_collect() */
    CLASS_POLL,       /* the system call that waits for file descriptors, or checks them */
    CLASS_SLEEP,      /* other system calls of an idle thread */
    FRAME_CLASSES,
};

/* The class of a function of the kernel or a library, by its name. */
enum frame_class frame_class_of_system(const char *symbol);
/* The class of a native function by its name and the path of its file. `executable`: the VM's,
 * perhaps by another path. */
enum frame_class frame_class_of_native(const char *symbol, const char *file,
                                       const char *executable);
/* The class of the native function that starts at `start`: the class of a state function, else
 * `by_name`, the class from its name. Call again when state_functions_version() changes; `by_name`
 * may then be the class of the call before. */
enum frame_class frame_class_of_start(const struct state_functions *functions, uint64_t start,
                                      enum frame_class by_name);

/* ---- inlined_frames.c ---- */

/*
 * Frames of functions that a compiler inlined, and lines of native functions
 * (native/native_inlined.h). Each address is looked up once.
 */

struct inlined_frames;

/* NULL unless they are wanted; the functions below accept NULL. Borrows both. */
struct inlined_frames *inlined_frames_new(struct mappings *mappings, struct profile *profile);
void inlined_frames_free(struct inlined_frames *inlined);

/* Create frames in this profile from now on. */
void inlined_frames_move(struct inlined_frames *inlined, struct profile *profile);

/* Forget what debug files that have arrived may change, and make room. Call before each stack. */
void inlined_frames_refresh(struct inlined_frames *inlined);

/* Set file and line of the frame of a native function that is at `address`. */
void inlined_frames_set_line(struct inlined_frames *inlined, uint64_t address, struct frame *frame);

/* Return where the chain of the functions that are inlined at an address begins in
 * inlined_frames_chains(). `frame`: of the function that contains them. */
size_t inlined_frames_chain(struct inlined_frames *inlined, const struct unwound_frame *unwound,
                            frame_id frame);

/* Return all chains, each with its oldest frame first and a 0 at its end. Valid until the next call
 * that finds or refreshes. */
const frame_id *inlined_frames_chains(const struct inlined_frames *inlined);

/* ---- frame_names.c ---- */

/*
 * Turns the addresses of an unwound stack into frames of the profile, and classifies them.
 *
 * The name and class of an address are looked up once and cached until the code changes. Addresses
 * with the same name, file and line share one frame. When more functions of the VM become known
 * (symbol/frames_internal.h), frames keep their names and get their new classes.
 */

struct frame_names;

/* Where names and classes come from. */
struct name_sources {
    struct vm *vm;
    struct atoms *atoms;
    struct code *code;
    struct runtime_names *runtime;
    const struct state_functions *functions;
};

/* Borrows all. */
struct frame_names *frame_names_new(const struct name_sources *sources, struct profile *profile);
/* Until this is called, kernel functions have no name. Borrows `kernel`. Their frames have their
 * addresses only with `addresses`: who knows one knows where the kernel is (KASLR). */
void frame_names_set_kernel(struct frame_names *names, const struct kernel_symbols *kernel,
                            bool addresses);
void frame_names_free(struct frame_names *names);

/* Create frames in this profile from now on. */
void frame_names_move(struct frame_names *names, struct profile *profile);

/* A stack of frames of the profile, leaf first. */
struct named_stack {
    size_t count;
    frame_id *frames;
    uint8_t *classes; /* enum frame_class of each frame */
    uint8_t *waiting; /* enum waiting_class of each frame */
    size_t *inlined;  /* of each frame: where its chain of inlined functions begins in `chains` */
    const frame_id *chains; /* inlined_frames_chains() */
    /* Numbers of frames: with Erlang code or a BIF, and without a name. */
    size_t erlang, unknown_erlang, unknown_native;
};

/* Name and classify each frame of an unwound stack. The result is valid until the next call. */
const struct named_stack *frame_names_find(struct frame_names *names,
                                           const struct unwound *unwound);

/* What the first argument of the function in this frame is. */
enum table_argument frame_names_argument(struct frame_names *names,
                                         const struct unwound_frame *frame);

/* ---- unnamed_frames.c ---- */

/*
 * Names for frames of native functions that were recorded before their debug file arrived
 * (native/debug_fetch.h).
 */

struct unnamed_frames;

/* NULL if no debug files are fetched; the functions below accept NULL. Borrows `mappings`. */
struct unnamed_frames *unnamed_frames_new(struct mappings *mappings);
void unnamed_frames_free(struct unnamed_frames *unnamed);

/* Forget all: the next stacks are of another profile. */
void unnamed_frames_forget(struct unnamed_frames *unnamed);

/* Note the frames of a stack that have no symbol. */
void unnamed_frames_note(struct unnamed_frames *unnamed, const struct profile *profile,
                         const struct named_stack *stack);

/* If debug files have arrived since the last call, name these frames in the recording. */
void unnamed_frames_name(struct unnamed_frames *unnamed, const struct profile *profile,
                         struct recording_writer *writer);

/* ---- table_frame.c ---- */

/*
 * Names the ETS table that a BIF works on: the frame of the table is the BIF's callee.
 *
 *      ... ─ ets:lookup/2 ─ [table session] ─ ets_lookup_2 ─ db_get_hash ...
 *
 * The table is the BIF's first argument (bpf/table.h). A table without a name of its own shows the
 * name that ets:new/2 got. There is no frame if the argument is not certain to be a table, or if
 * the table has been deleted meanwhile.
 */

/* What the first argument of a function is. */
enum table_argument {
    ARGUMENT_OTHER,
    ARGUMENT_TABLE,
    ARGUMENT_CONTINUATION, /* a tuple, whose first element is a table */
};

/* The first argument of the BIF or trap with this name: "ets:lookup/2". */
enum table_argument table_argument_of(const char *symbol);

/* Add the frame of the table to the stack, if the sample shows one. */
void table_frame_add(struct frame_names *names, struct vm *vm, const struct snapshot *snapshot,
                     struct unwound *unwound);

/* ---- dirty_loop.c ---- */

/*
 * Separates the frames of a dirty scheduler from the frames of its process.
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

struct dirty_loop;

/* Borrows both. */
struct dirty_loop *dirty_loop_new(struct vm *vm, struct runtime_names *names);
void dirty_loop_free(struct dirty_loop *loop);

/* Remove the scheduler's frames from the stack of a process on a dirty scheduler. All frames stay
 * if the loop is not among them. Also gives names to the functions that it recognizes, even if no
 * process runs. */
void dirty_loop_cut(struct dirty_loop *loop, const struct snapshot *snapshot,
                    struct unwound *unwound);

/* ---- waiting.c ---- */

/*
 * What a waiting process waits for: any message in its main loop (idle), or the end of a call
 * (blocked). The functions on its stack tell. Where they do not, it is only waiting.
 *
 * A frame gets its class with its name, once for each address (symbol/frames_internal.h). The
 * status follows from the classes of a stack.
 */

/* How a process waits, as far as one frame of its stack shows. */
enum waiting_class {
    WAITING_NO_CALL,   /* passed over: native code, a fragment or a mark. A stack from the scheduler
                        * has them at its leaf */
    WAITING_UNKNOWN,   /* any other function */
    WAITING_MAIN_LOOP, /* as a leaf: the process has nothing to do */
    WAITING_INSIDE,    /* as a leaf: the process waits inside a call */
    WAITING_CALLER,    /* anywhere: the process is inside a callback of a behaviour, or a call */
};

/* The class of a frame by its kind and its function. */
enum waiting_class waiting_class_of(enum frame_kind kind, const char *symbol);

/* The status of a process that waits with a stack of these classes (enum waiting_class), leaf
 * first: STATUS_IDLE, STATUS_BLOCKED, or STATUS_WAITING if the stack does not show which.
 * `has_messages`: its queue has messages, which its receive does not take. */
enum process_status waiting_status(const uint8_t *classes, size_t count, bool has_messages);
