// SPDX-License-Identifier: Apache-2.0
/*
 * Unwinds the whole stack of a sample: kernel, native and Erlang code addresses, leaf first.
 *
 * A scheduler thread that runs a process is in one of these states. Its program counter and stack
 * pointer tell them apart (x86-64 JIT with the Erlang stack as machine stack; x86/beam_asm.hpp
 * emit_enter_runtime 25.2.3:618, 27.3.4.1:622, 29.1.1:700):
 *
 *   pc       sp              top of the Erlang stack (E)
 *   JIT      Erlang stack    sp
 *   JIT      native stack    just before or after a call into C: as for the call
 *   C        native stack    by the code after the return address into the JIT:
 *                              "mov rsp, [r13+stop]"  Process.stop, saved before the call
 *                              "mov rsp, rbp"         rbp, which C code preserves: found by
 *                                                     unwinding the C frames with CFI
 *   C        dirty thread    Process.stop
 *
 * The walk skips the frame of the youngest Erlang function (unwind_internal.h), because the
 * function may not have written all words of it. From there on it reads the Erlang stack word by
 * word. Each code address is a return address. The root is normal_exit, the oldest frame of every
 * process.
 *
 * If that frame or the top is unknown, a mark is inserted. The stack continues at the first word
 * that can be a return address according to the calls in the code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/process_metrics.h"
#include "beam/vm.h"
#include "native/cfi.h"
#include "symbol/snapshot.h"

enum address_kind {
    ADDRESS_KERNEL,
    ADDRESS_NATIVE,
    ADDRESS_CODE,    /* Erlang code or a fragment of the JIT */
    ADDRESS_EXPORT,  /* a BIF that is called: address of its Export */
    ADDRESS_MFA,     /* a BIF or NIF that is called: its name, see unwound_mfa() */
    ADDRESS_UNKNOWN, /* a word that should be a code address but is in no known code */
    ADDRESS_CUT,     /* the address is the number of words that are missing here */
    ADDRESS_MISSING, /* frames may be missing here */
    ADDRESS_ENTRY,   /* the entry to the kernel: nothing else is known */
    ADDRESS_TABLE,   /* the address is the name of an ETS table, an atom term */
    ADDRESS_KINDS,
};

/* A BIF or NIF as the address of an ADDRESS_MFA frame: atom terms and arity, packed. 0: none. */
enum { MFA_INDEX_BITS = 27, MFA_ARITY_BITS = 8 };
struct unwound_mfa {
    uint64_t module, function;
    uint32_t arity;
};
uint64_t unwound_mfa_pack(const struct unwound_mfa *mfa);
struct unwound_mfa unwound_mfa(uint64_t address);

struct unwound_frame {
    uint64_t address;
    enum address_kind kind;
    bool is_return; /* a return address: the call is right before it */
};

struct unwound {
    struct unwound_frame *frames; /* leaf first */
    size_t count, room;
    bool complete;      /* reached the process' root frame */
    bool truncated;     /* the middle is missing */
    bool no_leaf;       /* the caller of the youngest Erlang function is uncertain */
    bool at_entry;      /* only the process is known (WIRE_ENTRY) */
    bool native_broken; /* native frames ended before Erlang code or the thread's start */
    struct process_registers registers; /* of the process, if one runs */
};

struct unwinder;

/* Borrows all. */
struct unwinder *unwinder_new(struct vm *vm, struct code *code);
void unwinder_free(struct unwinder *unwinder);

/* True if a process that does not run continues at Process.i. False if it calls the
 * function of Process.current next: it hibernates, or has not run yet (run_process takes the
 * function from its registers), or is in a BIF that will be called again. */
bool unwind_resumes_at(struct code *code, uint64_t i);

/* The result is valid until the next call. */
struct unwound *unwind(struct unwinder *unwinder, const struct snapshot *snapshot);
