// SPDX-License-Identifier: Apache-2.0
/*
 * The stub that replaces the code of an Erlang function when a NIF is loaded for it. The stub
 * contains the address of the C function (x86/instr_bif.cpp emit_call_nif, 25:967, 29:1059).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "os/memory.h"

struct nif_stub {
    uint64_t called; /* the function that Erlang code calls; it schedules a dirty NIF */
    uint64_t dirty;  /* the function that runs on a dirty scheduler, or 0 */
};

/* False if the function that starts at `function` is not such a stub, or can't be read. */
bool nif_stub_read(struct memory *memory, uint64_t function, struct nif_stub *stub);
