// SPDX-License-Identifier: Apache-2.0
/*
 * Loaded Erlang code: which function, file and line lies at an address.
 *
 * Two sources behind one interface: the list that the JIT keeps for debuggers (gdb_jit.c), and
 * the VM's own code ranges with its atom table (code_ranges.c) where there is no such list.
 *
 * Code changes while we look. code_refresh() brings the map up to what the VM has now; what has
 * gone is kept, below anything newer at the same address, so that samples taken before are still
 * named by the code that was there. Modules are parsed when an address in them is first asked for,
 * and before they can go: when a newer version of them appears.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"

struct code;

enum code_kind {
    CODE_FUNCTION, /* of a module */
    CODE_FRAGMENT, /* shared code of the JIT ("global::call_bif_shared") or its stubs */
    CODE_HEADER,   /* header, padding or literals of a module: never executed */
};

struct code_place {
    enum code_kind kind;
    uint64_t start, end; /* of the function or fragment */
    uint64_t module;     /* where the code of its module starts */
    const char *symbol;  /* "lists:map/2" or "global::call_bif_shared"; stays valid */
    const char *file;    /* source file name or "" */
    uint32_t line;       /* 0 if not known */
};

struct code *code_new(struct vm *vm, struct error *error);
void code_free(struct code *code);

/* The state of the VM's code, to notice change: the head of the debugger list or the active code
 * index. The kernel reads the word at this address at each sample. */
uint64_t code_generation_address(const struct code *code);

/* That word as of the last refresh: differs from a sample's if code was loaded in between. */
uint64_t code_generation(const struct code *code);
/* Grows with each change that was seen: what was derived from the map before is out of date. */
uint64_t code_epoch(const struct code *code);

/* Read what changed. Cheap when nothing did. */
int code_refresh(struct code *code, struct error *error);

/* What lies at `address`: exact for a leaf; for a return address pass address - 1. False if it is
 * not in any known code. */
bool code_find(struct code *code, uint64_t address, struct code_place *place);

/* Visit all places in the modules of this name (as the atom, not quoted): the newest version first,
 * then those that it has replaced and that were not overwritten; within each in address order. The
 * JIT's own are "global" (shared fragments; also a module of the kernel application) and
 * "erts_beamasm". A visit that returns false ends it. */
typedef bool (*code_visit)(void *context, const struct code_place *place);
void code_each(struct code *code, const char *module, code_visit visit, void *context);

/* A fragment of the JIT by its symbol ("global::garbage_collect"). */
bool code_find_fragment(struct code *code, const char *symbol, struct code_place *place);

/* Whether the bytes at the address are, or were a moment ago, those of the code that the map has
 * there: that was not replaced, and no code was loaded since the last refresh. */
bool code_is_current(const struct code *code, uint64_t address);

/* Is the address inside any code range at all (no parsing; cheap)? */
bool code_contains(const struct code *code, uint64_t address);

/* Address of normal_exit, the bottom frame of each process. */
uint64_t code_normal_exit(const struct code *code);
/* Frames are {frame pointer, return address} pairs (+JPperf fp). */
bool code_frame_pointers(const struct code *code);

/* What a call from JIT code into the runtime leaves in Process.stop: decided from the code after
 * the return address, cached.
 *   CALL_FRESH: stop is the Erlang stack pointer.
 *   CALL_STALE: it is not; the stack pointer is in rbp (callee-saved).
 * beam_asm.hpp emit_enter_runtime/emit_leave_runtime (25:618, 27:622, 29:700). */
enum call_class { CALL_FRESH, CALL_STALE };
enum call_class code_call_class(struct code *code, uint64_t return_address);
