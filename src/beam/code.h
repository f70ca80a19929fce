// SPDX-License-Identifier: Apache-2.0
/*
 * Loaded Erlang code: the function, file and line at an address.
 *
 * The source is the list that the JIT keeps for debuggers (gdb_jit.c). code_new() refuses a VM
 * without such a list.
 *
 * Code changes during a profile. code_refresh() updates the map to what the VM has now. Modules
 * that the VM no longer has stay in the map, below newer code at the same address: samples that are
 * older than the change get the names of the code that ran then. code_refresh_forget() removes them
 * once all such samples have their names. A module is parsed at the first request for an address in
 * it, or when a newer version of it appears, because the VM may then purge it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code_kind.h"
#include "beam/vm.h"

struct code;

/* A function has two adjacent places with the same name: its header, which contains the jump that
 * callers enter, and then its code. */
struct code_place {
    enum code_kind kind;
    enum fragment fragment;  /* FRAGMENT_NONE if the kind is not CODE_FRAGMENT */
    bool is_function_header; /* of a function with code in the next place */
    uint64_t start, end;     /* of the function or fragment */
    uint64_t module;         /* start address of its module's code */
    const char
        *symbol; /* "lists:map/2" or "global::call_bif_shared"; valid until code_refresh_forget() */
    const char *file; /* source file name or "" */
    uint32_t line;    /* 0 if unknown */
};

struct code *code_new(struct vm *vm, struct error *error);
void code_free(struct code *code);

/* Address of a word in the target that changes when the VM loads code: the head of the JIT's list.
 * The kernel side reads the word at each sample. */
uint64_t code_generation_address(const struct code *code);

/* The value of that word at the last refresh. A sample has another value if code was loaded in
 * between. */
uint64_t code_generation(const struct code *code);
/* A number that grows with each change of the map. Data derived from the map at an older epoch are
 * stale. */
uint64_t code_epoch(const struct code *code);

/* Read the changes from the VM. Cheap if there are none. */
int code_refresh(struct code *code, struct error *error);

/* Remove the modules that had been replaced 10 s before `now` (ns, CLOCK_MONOTONIC). Return their
 * number. */
size_t code_refresh_forget(struct code *code, uint64_t now);

/* Find the code at `address`: for a leaf its exact address, for a return address pass address - 1.
 * False if no known code is there. */
bool code_find(struct code *code, uint64_t address, struct code_place *place);

/* Visit all places in the modules of this name (the atom's text, not quoted): the newest version
 * first, then the older versions whose memory no newer code has taken. The places of a version
 * come in address order. The JIT's own code is in "global" (shared fragments; the kernel
 * application has a module of this name too) and in "erts_beamasm". The visit ends when the
 * callback returns false. */
typedef bool (*code_visit)(void *context, const struct code_place *place);
void code_each(struct code *code, const char *module, code_visit visit, void *context);

/* Visit the names of the modules that the VM has (atoms' texts), in address order; a module with
 * two versions comes twice. */
void code_each_module(const struct code *code, void (*visit)(void *context, const char *name),
                      void *context);

/* Find a fragment of the JIT by its symbol ("global::garbage_collect"). False if there is none. */
bool code_find_fragment(struct code *code, const char *symbol, struct code_place *place);

/* True if the code at the address is still the code in the map: it has not been replaced, and the
 * VM has loaded no code since the last refresh. It may have changed a moment ago. */
bool code_is_current(const struct code *code, uint64_t address);

/* True if the address is in any code of the map, live or replaced. Cheap: parses nothing. */
bool code_contains(const struct code *code, uint64_t address);

/* Address of normal_exit, the root frame of each process. */
uint64_t code_normal_exit(const struct code *code);
/* True if frames are {frame pointer, return address} pairs (+JPperf fp). */
bool code_frame_pointers(const struct code *code);

/* The state of Process.stop during a call from JIT code into the runtime. The code after the
 * return address shows it; answers are cached.
 *   CALL_FRESH: stop is the Erlang stack pointer.
 *   CALL_STALE: stop is out of date; the stack pointer is in the register features.saved_top. */
enum call_class { CALL_FRESH, CALL_STALE };
enum call_class code_call_class(struct code *code, uint64_t return_address);
