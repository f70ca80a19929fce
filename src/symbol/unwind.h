// SPDX-License-Identifier: Apache-2.0
/*
 * One whole stack from a sample: kernel, native and Erlang code addresses, leaf first.
 *
 * A scheduler thread that runs a process is in one of these states, told apart by where its
 * program counter and stack pointer are (x86-64 JIT with the Erlang stack as machine stack;
 * beam_asm.hpp emit_enter_runtime 25:618, 27:622, 29:700):
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
 * The frame of the youngest Erlang function is left out (leaf_frame.h), for words that it has not
 * written yet can be anything. From there on the Erlang stack is read word by word: what is a code
 * address is a return address, down to normal_exit, the bottom frame of every process.
 *
 * Where that frame or the top is not known, the stack goes on, behind a mark, at the first return
 * address that could be one by the calls in the code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/process_metrics.h"
#include "beam/vm.h"
#include "os/cfi.h"
#include "symbol/snapshot.h"

enum address_kind {
    ADDRESS_KERNEL,
    ADDRESS_NATIVE,
    ADDRESS_CODE,    /* Erlang code or a fragment of the JIT */
    ADDRESS_EXPORT,  /* BIF that is called: address of its Export */
    ADDRESS_MFA,     /* BIF or NIF that is called: its name, see unwound_mfa() */
    ADDRESS_UNKNOWN, /* a word that should be a code address and is in no known code */
    ADDRESS_CUT,     /* value is the number of words that are missing here */
    ADDRESS_MISSING, /* frames may be missing here */
    ADDRESS_ENTRY,   /* the entry to the kernel: all else is not known */
    ADDRESS_KINDS,
};

/* A BIF or NIF as the address of an ADDRESS_MFA frame: atom terms and arity, packed. 0 is none. */
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
    bool is_return; /* a return address: the call is before it */
};

struct unwound {
    struct unwound_frame *frames; /* leaf first */
    size_t count, room;
    bool complete;      /* reached the process' bottom frame */
    bool truncated;     /* the middle is missing */
    bool no_leaf;       /* who called the youngest Erlang function is not known for sure */
    bool at_entry;      /* nothing is known but the process (WIRE_ENTRY) */
    bool native_broken; /* native frames ended before Erlang code or the thread's start */
    struct process_registers registers; /* of the process, where one runs */
};

struct unwinder;

/* All borrowed. */
struct unwinder *unwinder_new(struct vm *vm, struct code *code, struct cfi *cfi);
void unwinder_free(struct unwinder *unwinder);

/* Whether Process.i of a process that does not run says what it does next. If not, Process.current
 * does: of one that hibernates, or has not run yet (run_process takes the function from its
 * registers), and in a BIF that will be called again. */
bool unwind_goes_on_at(struct code *code, uint64_t i);

/* The result is valid until the next call. */
struct unwound *unwind(struct unwinder *unwinder, const struct snapshot *snapshot);
